import type { Agents } from "../agent.ts";
import { findTool } from "../builtin-tools.ts";
import { type Clock, systemClock } from "../clock.ts";
import { AgentError, describeThrown } from "../errors.ts";
import { type Event, type FactBody, isFact } from "../event.ts";
import { createId } from "../ids.ts";
import type { EventStream } from "../loop/event-stream.ts";
import type { Inbox } from "../loop/inbox.ts";
import { openMailbox } from "../loop/inbox-sync.ts";
import { type HeldLease, holdLease } from "../loop/lease.ts";
import { type Log, openLog, type SessionLog } from "../loop/log.ts";
import { runUntilRest } from "../loop/loop.ts";
import { environment } from "../models/environment.ts";
import { truncateAnswer } from "../perform/fit-answer.ts";
import type { CallHooks } from "../perform/io.ts";
import { createDynamicTools, type DynamicTools } from "../perform/live-tools.ts";
import { findAgentByCall } from "../rules/pending-calls.ts";
import { knownSecrets, type Masking, maskingOf } from "../secrets/mask.ts";
import { maskedError } from "../secrets/mask-error.ts";
import { maskedLog } from "../secrets/masked-log.ts";
import { apply } from "../state/apply.ts";
import { createState, type State } from "../state/state.ts";
import type { Lease, Store } from "../store.ts";
import { engineFor, type Workshop } from "./nested-run.ts";
import { type Result, resultOf } from "./result.ts";
import { type Leg, type Run, runHandle } from "./run-handle.ts";

export type Hooks = CallHooks & {
  /** Sees every event, stored or live. What it throws is reported once as a `warning`, and it is not called again. */
  onEvent?(event: Event): void;
};

/** What a run needs while it is on; nothing of it is stored. */
export type ResumeOptions = {
  /** Given to tools and instructions: who asks, access rights, dependencies. */
  readonly context?: unknown;
  /** Aborting it cancels the run. */
  readonly signal?: AbortSignal;
  readonly hooks?: Hooks;
  readonly clock?: Clock;
  /**
   * Masked by their value, of at least six characters each, in all that leaves the run: facts (so also the store, the
   * history and the result), deltas, what the model is sent, errors. The keys of model providers in the environment are
   * masked without being named here. The mask is part of the history: a secret that a person types, or a model says in
   * the arguments of a call, is `***` from then on, for tools too. Hand tools their secrets by `context`, and never by
   * way of the model. Not found: a secret that is reversed, cut up, or encoded together with other text.
   */
  readonly secrets?: readonly string[];
};

export type Opening = ResumeOptions & {
  readonly agents: Agents;
  readonly runId: string;
  readonly store: Store;
  /** Others use the store too: they may tell the run something, watch it, and go on with it. */
  readonly shared?: Shared | undefined;
  /** The session of the run. */
  find(): Promise<string>;
  /** Says what a new run is about; nothing for one that is already in the log. */
  enter(log: Log, state: State): Promise<void>;
};

/** How a run gets along with other processes on its store. */
export type Shared = {
  /** Who is at work, in the facts and in the leases. */
  readonly owner: string;
  readonly leaseMs?: number;
  /** For leases. */
  readonly clock?: Clock;
  /** Whoever was at work on it is gone. */
  readonly isRecovery?: boolean;
  /** Aborted when the process wants to leave: the run is put down after what is under way. */
  readonly leaving?: AbortSignal;
};

/** Opens a run on a store: wires the loop to its engine, its log, its inbox and its listeners. */
export function openRun(opening: Opening): Run {
  const { runId, signal } = opening;
  const tools = createDynamicTools(opening.agents);
  const agents = tools?.agents ?? opening.agents;
  let state: State | undefined;
  let controller = new AbortController();
  let before: Promise<unknown> = Promise.resolve();

  function begin(stream: EventStream, inbox: Inbox): Leg {
    let resting = false;
    const rest = () => {
      resting = true;
    };
    controller = new AbortController();
    signal?.addEventListener("abort", cancel, { once: true });
    const result = before.then(async () => {
      if (signal?.aborted) cancel();
      const masking = maskingOf(knownSecrets(opening.secrets ?? [], environment));
      try {
        state ??= createState(await opening.find());
        return await walk({ opening, agents, tools, masking, state, stream, inbox, controller, rest });
      } catch (thrown) {
        throw masking ? maskedError(thrown, masking) : thrown;
      }
    });
    const settle = (error?: unknown) => {
      rest();
      // The signal may outlive many runs.
      if (error !== undefined || state?.run?.done) signal?.removeEventListener("abort", cancel);
      stream.end(error);
    };
    before = result.then(() => settle(), settle);
    return { isResting: () => resting, result };
  }

  function cancel(): void {
    handle.cancel(describeThrown(signal?.reason, "cancelled").message);
  }

  const handle = runHandle({
    id: runId,
    agents,
    // Before its tools are known, nothing can be said about its calls.
    state: () => (state?.run?.id === runId && tools?.turn() !== 0 ? state.run : undefined),
    begin,
    abort: (reason) => controller.abort(new AgentError("cancelled", reason)),
  });
  return handle;
}

type Walk = {
  readonly opening: Opening;
  readonly agents: Agents;
  readonly tools: DynamicTools | undefined;
  /** Undefined without secrets: then nothing is looked at. */
  readonly masking: Masking | undefined;
  readonly state: State;
  readonly stream: EventStream;
  readonly inbox: Inbox;
  readonly controller: AbortController;
  rest(): void;
};

/** One leg: from a start or an answer to the end, or to a rest that nobody disturbs. */
async function walk(walking: Walk): Promise<Result> {
  const { opening, agents, state } = walking;
  const { runId, store, shared } = opening;
  await stretch(walking);
  // Whoever told it something meanwhile has found it taken, and relies on us.
  while (shared && !state.run?.done && (await store.listMessages(runId)).length > 0) {
    try {
      await stretch(walking);
    } catch (thrown) {
      if (describeThrown(thrown, "store_failed").code !== "session_busy") throw thrown;
      break;
    }
  }
  if (state.run?.id !== runId)
    throw new AgentError("unknown_run", `The session "${state.sessionId}" has no run "${runId}".`);
  return resultOf(agents, state, state.run);
}

/** Takes the session, catches up with its log, runs until rest, and lets the session go. */
async function stretch(walking: Walk): Promise<void> {
  const { opening, agents, tools, state, stream, inbox, controller, rest } = walking;
  const { runId, store, shared } = opening;
  const { sessionId } = state;
  const owner = shared ? createId(shared.owner, "/") : createId(runId, ".");
  const onLost = (error: AgentError) => controller.abort(error);
  const held = await holdLease({
    store,
    sessionId,
    owner,
    leaseMs: shared?.leaseMs,
    clock: shared?.clock,
    onLost,
  });
  const abort = (reason: string) => controller.abort(new AgentError("cancelled", reason));
  const mailbox = shared && openMailbox({ store, sessionId, runId, agents, inbox, abort });
  try {
    await catchUp(walking);
    const { plain, log } = writing(walking, held.lease);
    if (state.run?.id !== runId) await opening.enter(log, state);
    if (state.run?.id !== runId) return;
    if (shared?.isRecovery && !state.run.done && !state.run.waiting)
      await log.append([{ type: "recovered", owner: shared.owner }], `${state.seq}`);
    const now = (opening.clock ?? systemClock).now();
    if (state.run.wakeAt !== undefined && now >= state.run.wakeAt)
      await log.append([{ type: "woken" }], `${state.seq}`);
    await mailbox?.pull();
    const { signal } = controller;
    const canPark = shared !== undefined;
    const engine = engineFor(workshop(walking, plain, held), { agents, state, log, signal, canPark });
    await runUntilRest({
      agents,
      state,
      engine,
      log,
      inbox,
      stream,
      tools,
      rest,
      fitted: (fact) => fitted(walking, fact),
      pull: mailbox?.pull,
      catchUp: mailbox?.catchUp,
      leaving: shared?.leaving,
    });
  } finally {
    mailbox?.close();
    await held.release();
  }
}

/** Secrets are masked before anything is cut: no half of one stays. */
async function fitted({ opening, agents, masking, state }: Walk, fact: FactBody): Promise<FactBody> {
  const { run, sessionId } = state;
  if (fact.type !== "tool_call_result" || !run) return fact;
  const agent = findAgentByCall(agents, run, fact.id);
  return truncateAnswer(masking ? masking.fact(fact) : fact, {
    tool: agent && findTool(agent, fact.name),
    policy: run.policy,
    blobs: { put: (blob) => opening.store.putBlob(sessionId, blob) },
  });
}

/** Folds what is in the log and not yet in the state, up to the end of this run. */
async function catchUp({ opening, masking, state, stream }: Walk): Promise<void> {
  const { store, runId } = opening;
  const known = state.seq;
  for (const stored of await store.read(state.sessionId, known)) {
    const isNext = stored.type === "run_start" && stored.parentRunId === undefined;
    if (state.run?.id === runId && isNext) return;
    // It may have been stored by someone who did not know the secrets.
    const fact = masking ? masking.fact(stored) : stored;
    apply(state, fact);
    if (known > 0) stream.push(fact); // written elsewhere while this run waited
  }
}

function workshop({ opening, masking }: Walk, log: SessionLog, held: HeldLease): Workshop {
  const { store, context, hooks = {}, clock = systemClock, shared } = opening;
  return { store, held, clock, context, hooks, masking, log, leaving: shared?.leaving };
}

/** `log` masks what it is told; `plain` is the way that nested runs take, each with a mask of its own. */
type Logs = { readonly plain: SessionLog; readonly log: Log };

function writing({ opening, masking, state, stream, inbox, controller }: Walk, lease: Lease): Logs {
  const { store, runId, agents, shared, hooks = {}, clock = systemClock } = opening;
  let listening = hooks.onEvent !== undefined;
  const unheard = (thrown: unknown) => {
    if (!listening) return;
    listening = false;
    const message = `The hook onEvent threw and is not called again: ${describeThrown(thrown, "tool_failed").message}`;
    // After the end nothing is said any more; a failing append is the run's own failure.
    if (!state.run?.done)
      log.append([{ type: "warning", code: "hook_failed", message }], "hook").catch(() => undefined);
  };
  const plain = openLog({
    store,
    lease,
    state,
    clock,
    runId,
    agent: agents.keys().next().value ?? "",
    tell(event) {
      stream.push(event);
      if (shared && !isFact(event)) store.publish(state.sessionId, [{ after: state.seq, delta: event }]);
      if (!listening) return;
      try {
        const heard: unknown = hooks.onEvent?.(event);
        // Nobody waits for a hook that is async; its rejection must not end the process.
        if (heard instanceof Promise) heard.catch(unheard);
      } catch (thrown) {
        unheard(thrown);
      }
    },
    fail: (error) => controller.abort(error),
    inbox,
  });
  const log: Log = masking ? maskedLog(plain, masking) : plain;
  return { plain, log };
}
