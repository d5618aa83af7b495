import { type Agent, type Agents, indexAgents } from "../agent.ts";
import { repeatEvery, systemClock } from "../clock.ts";
import { AgentError } from "../errors.ts";
import type { Event, Fact } from "../event.ts";
import { createId } from "../ids.ts";
import type { Json } from "../json.ts";
import { messageOf } from "../loop/inbox-sync.ts";
import { environment } from "../models/environment.ts";
import { createDynamicTools } from "../perform/live-tools.ts";
import { toJson } from "../perform/serialise.ts";
import { buildTurnRequest, type TurnRequest } from "../perform/turn-request.ts";
import type { ResumeOptions } from "../run/open-run.ts";
import { type Result, resultOf } from "../run/result.ts";
import type { Run } from "../run/run-handle.ts";
import { knownSecrets, maskingOf } from "../secrets/mask.ts";
import { subscribe } from "../sessions/subscribe.ts";
import { fold } from "../state/apply.ts";
import type { RunState, State } from "../state/state.ts";
import type { RunMessage, Store } from "../store.ts";

type Place = {
  readonly store: Store;
  teamOf(agent: string): Promise<readonly Agent[] | undefined>;
  readonly runId: string;
};
type Stored = Place & { tell(message: RunMessage): Promise<void> };

type Body = RunMessage extends infer Message
  ? Message extends RunMessage
    ? Omit<Message, "key">
    : never
  : never;

const longMs = 3_600_000;

/** A run as its store shows it. It is at rest when it ended or waits; what it is told goes through the store. */
export function storedRun({ store, teamOf, runId, tell }: Stored): Run {
  /** What has been said to it last: the next look waits until that is stored, and tells if it could not be. */
  let said: Promise<void> = Promise.resolve();

  function say(body: Body): Run {
    const message = { ...body, key: createId("told_") } as RunMessage;
    said = said.then(() => tell(message));
    said.catch(() => undefined);
    return handle;
  }

  async function* events(): AsyncGenerator<Event> {
    // Whoever waits for a run keeps the process; what looks after the store does not.
    const letGo = repeatEvery(systemClock, longMs, () => undefined);
    try {
      await said;
      await heard(store, runId);
      yield* subscribe(store, { runId, after: 0 }, { untilRest: true });
    } finally {
      letGo();
    }
  }

  async function result(): Promise<Result> {
    for await (const _ of events());
    return storedResult({ store, teamOf, runId });
  }

  const handle: Run = {
    id: runId,
    // biome-ignore lint/suspicious/noThenProperty: a run is awaitable by design
    then: (onResult, onError) => result().then(onResult, onError),
    [Symbol.asyncIterator]: events,
    cancel: (reason) => say({ type: "cancel", ...(reason !== undefined && { reason }) }),
    steer: (text) => say({ type: "steer", text }),
    approve: (callId, value?: Json) =>
      say({ type: "approve", callId, ...(value !== undefined && { value }) }),
    deny: (callId, reason) => say({ type: "deny", callId, ...(reason !== undefined && { reason }) }),
    answer: (callId, value) => say({ type: "result", callId, value: toJson(value) }),
  };
  return handle;
}

/** What has come of a run so far, without waiting for it. Throws `unknown_run`. */
export async function storedResult(place: Place): Promise<Result> {
  const { agents, state, run } = await storedState(place);
  return resultOf(agents, state, run);
}

/** What the model was sent in a turn, made again; secrets are masked as they were then. Throws `unknown_run`, `not_found`. */
export async function storedTurn(
  { store, teamOf, runId }: Place,
  turn: number,
  { context, secrets = [] }: Pick<ResumeOptions, "context" | "secrets">,
): Promise<TurnRequest> {
  const facts = await store.read((await store.findSession(runId)) ?? "");
  const start = facts.find((fact) => fact.type === "run_start" && fact.runId === runId);
  if (!start) throw new AgentError("unknown_run", `The store has no run "${runId}".`);
  const agents = indexAgents((await teamOf(start.agent)) ?? []);
  const made = await buildTurnRequest(agents, { facts, runId, turn }, context);
  return maskingOf(knownSecrets(secrets, environment))?.value(made) ?? made;
}

/** Throws what the run, as it is now, would hold against the message. */
export async function checkTold(place: Place, told: RunMessage): Promise<void> {
  const { agents, run } = await storedState(place);
  const message = messageOf(told, agents);
  await message.check?.(run);
  message.factsFor(run);
}

type StoredState = { readonly agents: Agents; readonly state: State; readonly run: RunState };

async function storedState({ store, teamOf, runId }: Place): Promise<StoredState> {
  const sessionId = (await store.findSession(runId)) ?? "";
  const facts = await store.read(sessionId);
  const start = facts.find((fact) => fact.type === "run_start" && fact.runId === runId);
  const isNext = (fact: Fact) =>
    fact.type === "run_start" && fact.parentRunId === undefined && fact.seq > (start?.seq ?? 0);
  const next = facts.findIndex(isNext);
  const state = fold(sessionId, next === -1 ? facts : facts.slice(0, next));
  const { run } = state;
  if (!start || run?.id !== runId) throw new AgentError("unknown_run", `The store has no run "${runId}".`);
  const agents = indexAgents((await teamOf(start.agent)) ?? []);
  const live = createDynamicTools(agents);
  live?.refresh(run.agent, run.turn);
  return { agents: live?.agents ?? agents, state, run };
}

/** A run that was told something and still waits is not at rest: somebody is about to hear it. */
async function heard(store: Store, runId: string): Promise<void> {
  const sessionId = (await store.findSession(runId)) ?? "";
  let bell = Promise.withResolvers<void>();
  const unwatch = store.watch(sessionId, () => {
    bell.resolve();
    bell = Promise.withResolvers();
  });
  try {
    for (;;) {
      const next = bell.promise;
      if ((await store.listMessages(runId)).length === 0) return;
      // What came too late is heard by nobody.
      if ((await store.listRuns(sessionId)).some((run) => run.runId === runId && run.state === "ended"))
        return;
      await next;
    }
  } finally {
    unwatch();
  }
}
