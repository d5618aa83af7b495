import type { Agents } from "../agent.ts";
import { fold } from "../apply.ts";
import { every, systemClock } from "../clock.ts";
import { AgentError } from "../errors.ts";
import type { Event, Fact } from "../event.ts";
import type { Json } from "../json.ts";
import { newId } from "../new-id.ts";
import { toJson } from "../perform/serialise.ts";
import { type Result, resultOf } from "../result.ts";
import type { Run } from "../run-handle.ts";
import { subscribe } from "../sessions/subscribe.ts";
import type { Store, Told } from "../store.ts";

type Stored = {
  readonly store: Store;
  readonly agents: Agents;
  readonly runId: string;
  tell(message: Told): Promise<void>;
};

type Body = Told extends infer Message ? (Message extends Told ? Omit<Message, "key"> : never) : never;

const longMs = 3_600_000;

/** A run as its store shows it. It is at rest when it ended or waits; what it is told goes through the store. */
export function storedRun({ store, agents, runId, tell }: Stored): Run {
  /** What has been said to it last: the next look waits until that is stored, and tells if it could not be. */
  let said: Promise<void> = Promise.resolve();

  function say(body: Body): Run {
    const message = { ...body, key: newId("told_") } as Told;
    said = said.then(() => tell(message));
    said.catch(() => undefined);
    return handle;
  }

  async function* events(): AsyncGenerator<Event> {
    // Whoever waits for a run keeps the process; what looks after the store does not.
    const letGo = every(systemClock, longMs, () => undefined);
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
    const sessionId = await store.sessionOf(runId);
    const facts = sessionId === undefined ? [] : await store.read(sessionId);
    const start = startOf(facts, runId);
    const isNext = (fact: Fact) =>
      fact.type === "run_start" && fact.parentRunId === undefined && fact.seq > start;
    const next = facts.findIndex(isNext);
    const state = fold(sessionId ?? "", next === -1 ? facts : facts.slice(0, next));
    if (state.run?.id !== runId) throw new AgentError("unknown_run", `The store has no run "${runId}".`);
    return resultOf(agents, state, state.run);
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

/** A run that was told something and still waits is not at rest: somebody is about to hear it. */
async function heard(store: Store, runId: string): Promise<void> {
  const sessionId = (await store.sessionOf(runId)) ?? "";
  let bell = Promise.withResolvers<void>();
  const unwatch = store.watch(sessionId, () => {
    bell.resolve();
    bell = Promise.withResolvers();
  });
  try {
    for (;;) {
      const next = bell.promise;
      if ((await store.told(runId)).length === 0) return;
      // What came too late is heard by nobody.
      if ((await store.runs(sessionId)).some((run) => run.runId === runId && run.state === "ended")) return;
      await next;
    }
  } finally {
    unwatch();
  }
}

function startOf(
  facts: readonly { readonly type: string; readonly runId: string; readonly seq: number }[],
  runId: string,
): number {
  return facts.find((fact) => fact.type === "run_start" && fact.runId === runId)?.seq ?? 0;
}
