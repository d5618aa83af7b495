import { type Clock, repeatEvery, systemClock } from "../base/clock.ts";
import { AgentError, describeThrown } from "../base/errors.ts";
import { listPendingCalls, type PendingCall } from "../features/calls/pending-calls.ts";
import type { ExactRequest, TriedTurn } from "../features/exact-requests/stored-request.ts";
import { type Agent, type Agents, hasDynamicTools, indexAgents } from "../kernel/agent.ts";
import { toJson } from "../kernel/calls/to-json.ts";
import type { Event, Fact } from "../kernel/event.ts";
import { createId } from "../kernel/ids.ts";
import { createState, type RunState, type State } from "../kernel/state.ts";
import { createDynamicTools } from "../runtime/dynamic-tools.ts";
import { loadRunFacts, readFacts } from "../runtime/load-facts.ts";
import { checkArrival, toFacts, validateMessage } from "../runtime/messages.ts";
import { createRunMask, type ResumeOptions } from "../runtime/open-run.ts";
import { foldNewFacts, openSession } from "../runtime/open-session.ts";
import { buildResult, type Result } from "../runtime/result.ts";
import { createRunHandle, type Run } from "../runtime/run-handle.ts";
import type { FoundRun, RunMessage, Store } from "../runtime/store.ts";
import { buildTurnRequest, type TurnRequest } from "../runtime/turn-request.ts";
import { loadRequests } from "../sessions/load-requests.ts";
import { subscribe } from "../sessions/subscribe.ts";
import type { LocalEngine, TryOptions } from "./local-engine.ts";
import { isRepeatedMessage } from "./repeated-message.ts";
import { assertHasTools, assertResumable, listStuckRuns } from "./stuck-runs.ts";

export type RunLocation = {
  readonly store: Store;
  /** Tells whether an approval arrives in time. */
  readonly clock: Pick<Clock, "now">;
  /** Returns every agent that a run of this agent may need. */
  resolveAgents(agent: string): Promise<readonly Agent[] | undefined>;
  readonly runId: string;
};

type StoredRunOptions = RunLocation & { send(message: RunMessage): Promise<void> };

const keepAliveMs = 3_600_000;

/**
 * Creates the handle of a run that may execute in any process. Messages go through the store; the events end when the
 * run has ended or waits.
 */
export function createStoredRun({ send, ...location }: StoredRunOptions): Run {
  const { store, runId } = location;
  /** Resolves when the last message is stored. Reading waits for it, and reports its failure. */
  let lastSend: Promise<void> = Promise.resolve();

  /** Rejects if an approval comes too late. The run then continues with the call denied. */
  async function sendInTime(message: RunMessage): Promise<void> {
    const { late } = checkArrival(
      message,
      message.type === "approve" ? await loadRunState(location) : undefined,
    );
    await send(message);
    if (late) throw late;
  }

  async function* readEvents(): AsyncGenerator<Event> {
    // A caller that waits for the run keeps the process alive; the timers of the store do not.
    const stopKeepAlive = repeatEvery(systemClock, keepAliveMs, () => undefined);
    try {
      await lastSend;
      await waitForDelivery(store, runId);
      yield* subscribe(store, { runId, after: 0 }, { untilRest: true });
    } finally {
      stopKeepAlive();
    }
  }

  return createRunHandle({
    id: runId,
    send(message) {
      const body = message.type === "result" ? { ...message, value: toJson(message.value) } : message;
      lastSend = lastSend.then(() => sendInTime({ ...body, key: createId("told_") }));
      lastSend.catch(() => undefined);
    },
    readEvents,
    async getResult() {
      for await (const _ of readEvents());
      return loadResult(location);
    },
  });
}

/** Returns the result of a run so far, without waiting for it. Rejects with `unknown_run`. */
export async function loadResult(location: RunLocation): Promise<Result> {
  const { agents, state, run } = await loadRunState(location);
  return buildResult(agents, state, run);
}

/** Rebuilds the request of a turn, with secrets masked as they were then. Rejects with `unknown_run` or `not_found`. */
export async function loadTurnRequest(
  { store, resolveAgents, runId }: RunLocation,
  turn: number,
  { context, secrets = [] }: Pick<ResumeOptions, "context" | "secrets">,
): Promise<TurnRequest> {
  const found = await findRun(store, runId);
  const session = await openSession(found.sessionId, { store, runId });
  const isPast = session.state.run?.id === runId && session.state.run.turn >= turn;
  const state = isPast ? createState(found.sessionId) : session.state;
  const facts: Fact[] = [];
  for await (const page of readFacts(store, found.sessionId, state.seq)) facts.push(...page);
  const agents = indexAgents((await resolveAgents(found.agent)) ?? []);
  const request = await buildTurnRequest(agents, { state, facts, runId, turn }, context);
  return createRunMask(secrets)?.value(request) ?? request;
}

/** Calls a model with the request of a turn and changes to it. Rejects with `unknown_run` or `not_found`. */
async function tryStoredTurn(location: RunLocation, turn: number, options: TryOptions): Promise<TriedTurn> {
  const { store, resolveAgents, runId } = location;
  const { changes = {}, hooks = {}, signal = new AbortController().signal } = options;
  const rebuilt = await loadTurnRequest(location, turn, options);
  const requests = await loadRequests(store, { runId, turn }).catch(ignoreMissing);
  const agents = await resolveAgents((await findRun(store, runId)).agent).catch(ignorePermanent);
  return (await import("./try-turn.ts")).tryTurn({
    ...{ turn: rebuilt, changes, hooks, signal, clock: systemClock, masking: createRunMask(options.secrets) },
    sent: requests.findLast(({ purpose }) => purpose === "answer"),
    agent: agents?.find(({ name }) => name === rebuilt.agent),
  });
}

/** The turn may have been stored by a version that kept no requests. */
function ignoreMissing(thrown: unknown): readonly ExactRequest[] {
  if (describeThrown(thrown, "store_failed").code === "not_found") return [];
  throw thrown;
}

/** `isNew` is false when the run received the message before. `call` is the pending call that a new message answers. */
export type MessageCheck = { readonly isNew: boolean; readonly call?: PendingCall };

/**
 * Checks a message against the run's log and its pending messages. Rejects when the run, in its current state, cannot
 * accept it.
 */
export async function checkStoredMessage(location: RunLocation, message: RunMessage): Promise<MessageCheck> {
  const { store, runId } = location;
  await assertResumable(location, runId, message);
  const pending = await store.listMessages(runId);
  const context = await loadRunState(location);
  assertHasTools(context, message);
  const loadFacts = () => loadRunFacts(store, runId);
  if (await isRepeatedMessage(message, { ...context, pending, loadFacts })) return { isNew: false };
  const { late } = checkArrival(message, context);
  if (late) throw late;
  await validateMessage(message, context);
  toFacts(message, context);
  const calls = "callId" in message ? listPendingCalls(context.agents, context.run) : [];
  const call = calls.find(({ callId }) => "callId" in message && callId === message.callId);
  return { isNew: true, ...(call && { call }) };
}

type StoredState = {
  readonly agents: Agents;
  readonly state: State;
  readonly run: RunState;
  readonly now: number;
  /** Whether a later run of the session has started. */
  readonly isOutdated: boolean;
};

/** Folds a run from the newest snapshot before or within it, up to the next run of its session. */
export async function loadRunState(location: RunLocation): Promise<StoredState> {
  const { store, resolveAgents, clock, runId } = location;
  const { sessionId, agent } = await findRun(store, runId);
  const session = await openSession(sessionId, { store, runId });
  const isOutdated = await foldNewFacts(session, { store, runId });
  const { state } = session;
  const { run } = state;
  if (run?.id !== runId)
    throw new AgentError("unknown_run", `Run "${runId}" not found in session "${sessionId}".`);
  const agents = indexAgents((await resolveAgents(agent).catch(ignorePermanent)) ?? []);
  const tools = hasDynamicTools(agents) ? createDynamicTools(agents) : undefined;
  tools?.refresh(run.agent, run.turn);
  return { agents: tools?.agents ?? agents, state, run, now: clock.now(), isOutdated };
}

/** A run can be read, though not continued, when its agent cannot be built. */
function ignorePermanent(thrown: unknown): undefined {
  if (describeThrown(thrown, "invalid_definition").retryable) throw thrown;
}

async function findRun(store: Store, runId: string): Promise<FoundRun> {
  const run = await store.findRun(runId);
  if (!run) throw new AgentError("unknown_run", `Run "${runId}" not found in the store.`);
  return run;
}

/** Resolves when no message is pending: until then a waiting run is about to continue. */
async function waitForDelivery(store: Store, runId: string): Promise<void> {
  const sessionId = (await store.findSession(runId)) ?? "";
  let notice = Promise.withResolvers<void>();
  const unwatch = store.watch(sessionId, () => {
    notice.resolve();
    notice = Promise.withResolvers();
  });
  try {
    for (;;) {
      const next = notice.promise;
      if ((await store.listMessages(runId)).length === 0) return;
      // A message that was stored while the run ended is never delivered.
      if ((await store.findRun(runId))?.state === "ended") return;
      await next;
    }
  } finally {
    unwatch();
  }
}

type RunReader = Pick<
  LocalEngine,
  "getResult" | "getTurnRequest" | "tryTurn" | "checkMessage" | "previewCall" | "listStuck"
>;

/** Reads runs from the store, whichever process executes them. */
export function createRunReader(source: Omit<RunLocation, "runId">): RunReader {
  return {
    getResult: (runId) => loadResult({ ...source, runId }),
    getTurnRequest: (runId, turn, options = {}) => loadTurnRequest({ ...source, runId }, turn, options),
    tryTurn: (runId, turn, options = {}) => tryStoredTurn({ ...source, runId }, turn, options),
    checkMessage: (runId, message) => checkStoredMessage({ ...source, runId }, message),
    async previewCall(runId, callId, options = {}) {
      const { previewCall } = await import("./preview-call.ts");
      return previewCall(await loadRunState({ ...source, runId }), callId, options);
    },
    listStuck: (filter) =>
      listStuckRuns({ ...source, load: (runId) => loadRunState({ ...source, runId }) }, filter),
  };
}
