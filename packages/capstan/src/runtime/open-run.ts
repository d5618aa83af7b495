import { type Clock, type ClockOption, systemClock } from "../base/clock.ts";
import { AgentError, describeThrown } from "../base/errors.ts";
import type { ProcessGate } from "../features/recovery/process-gate.ts";
import { type Agents, hasDynamicTools } from "../kernel/agent.ts";
import type { Event } from "../kernel/event.ts";
import type { CallHooks } from "../kernel/io.ts";
import type { State } from "../kernel/state.ts";
import type { ToolCall } from "../kernel/tool.ts";
import { listKeys } from "../models/environment.ts";
import { createMask, type SecretMask } from "../secrets/mask.ts";
import { maskError } from "../secrets/mask-error.ts";
import { createDynamicTools } from "./dynamic-tools.ts";
import { createEventStream, type EventStream } from "./event-stream.ts";
import { createInbox } from "./inbox.ts";
import type { Log } from "./log.ts";
import {
  addPendingDecision,
  checkArrival,
  type Message,
  type MessageContext,
  type PendingDecisions,
  toFacts,
} from "./messages.ts";
import { type OpenSession, openSession } from "./open-session.ts";
import type { Result } from "./result.ts";
import { createRunHandle, type Run } from "./run-handle.ts";
import { executeSegment } from "./segment.ts";
import type { OnModelCall } from "./steps.ts";
import type { Store } from "./store.ts";

export type Hooks<Context = unknown, Call extends ToolCall = ToolCall> = CallHooks<Context, Call> & {
  /** Receives every event, stored or live. If it throws, a `warning` reports it and the hook is not called again. */
  onEvent?(event: Event<Call>): void;
};

/** Runtime options of a run; none of them is stored. */
export type ResumeOptions<Context = unknown, Call extends ToolCall = ToolCall> = {
  /** Passed to tools and instructions: the current user, access rights, dependencies. */
  readonly context?: Context;
  /** Aborting it cancels the run. */
  readonly signal?: AbortSignal;
  readonly hooks?: Hooks<Context, Call>;
  readonly clock?: ClockOption;
  /**
   * Values of at least six characters to mask in everything that leaves the run: facts (and so the store, the history and
   * the result), deltas, model requests and errors. API keys of model providers in the environment are always masked.
   * The mask is part of the history: a secret that a user types, or that a model puts into the arguments of a call,
   * becomes `***`, for tools too. Pass secrets to tools through `context`, never through the model. A secret that is
   * reversed, split, or encoded together with other text is not found.
   */
  readonly secrets?: readonly string[];
};

export type OpenRunOptions = Omit<ResumeOptions, "clock"> & {
  readonly clock?: Clock;
  readonly agents: Agents;
  readonly runId: string;
  readonly store: Store;
  /** Set when other processes use the store too: they may send messages, watch the run, and take it over. */
  readonly shared?: SharedStoreOptions | undefined;
  /** Returns the session of the run. `isNew`: its id was just created, so nothing can be stored under it. */
  findSession(): Promise<{ readonly id: string; readonly isNew?: boolean }>;
  /** Appends `run_start` for a new run; does nothing for a run that is already in the log. */
  start(log: Log, state: State): Promise<void>;
  /**
   * Called when the run begins to execute, when it suspends, and when it is over: it has ended, or rejected and does not
   * wait. The session is undefined if it was not found.
   */
  readonly onProgress?: (progress: "running" | "suspended" | "over", sessionId?: string) => void;
};

/** How a run cooperates with other processes on its store. */
export type SharedStoreOptions = {
  /** Identifies the executing process in facts and leases. */
  readonly owner: string;
  readonly leaseMs: number;
  /** Admits the runs that execute in this process. */
  readonly gate: ProcessGate;
  /** The clock for leases. */
  readonly clock?: Clock;
  /** Facts after which a run stores a snapshot of its session. Default: 300. */
  readonly snapshotEvery?: number | undefined;
  /** Takes the lease from the process that executed the run before: the engine knows that it is gone. */
  readonly takeOver?: boolean | undefined;
  /** Whether the process that executed the run before is gone if it has not released its lease. */
  readonly isTakeover?: boolean;
  /** Stores the start of a new run and executes nothing: any process may execute the run. */
  readonly startOnly?: true;
  /** Whether a run that waits for its model's provider continues before its time, because the provider may be back. */
  readonly isWakeup?: boolean;
  /** Called after every model call of the run and its nested runs. */
  readonly onModelCall?: OnModelCall;
  /** Aborted when the process shuts down: the run stops after the current step and is released. */
  readonly shutdownSignal?: AbortSignal;
  /** Called when this process starts to execute a segment of a run, and when that segment is over. */
  readonly onRunStart?: ((run: ExecutedRun) => void) | undefined;
  readonly onRunEnd?: ((segment: ExecutedSegment) => void) | undefined;
};

export type ExecutedRun = { readonly runId: string; readonly sessionId: string };

/** A segment that is over, with the code of the error that stopped it, such as `lease_lost`. */
export type ExecutedSegment = ExecutedRun & { readonly errorCode?: string };

/** Part of a run: from a start or an answer to the next suspension or the end. */
type Segment = { isSuspended: boolean; readonly result: Promise<Result> };

/** Opens a run on a store: creates its handle, its inbox and its event stream, and starts a segment. */
export function openRun(options: OpenRunOptions): Run {
  const { runId, signal, clock = systemClock } = options;
  const tools = hasDynamicTools(options.agents) ? createDynamicTools(options.agents) : undefined;
  const agents = tools?.agents ?? options.agents;
  const inbox = createInbox();
  const pendingDecisions: PendingDecisions = new Map();
  let stream: EventStream;
  let session: OpenSession | undefined;
  let controller: AbortController;
  let previous: Promise<unknown> = Promise.resolve();
  let segment = startSegment();

  function startSegment(): Segment {
    const segmentStream = createEventStream();
    stream = segmentStream;
    const abort = new AbortController();
    controller = abort;
    const onSuspend = () => {
      started.isSuspended = true;
    };
    signal?.addEventListener("abort", cancelBySignal, { once: true });
    if (session) options.onProgress?.("running", session.state.sessionId);
    const result = previous.then(async () => {
      if (signal?.aborted) cancelBySignal();
      const masking = createRunMask(options.secrets);
      try {
        session ??= await openFoundSession(options, masking);
        const context = { agents, tools, masking, session, state: session.state, inbox, controller: abort };
        return await executeSegment(options, { ...context, stream: segmentStream, onSuspend });
      } catch (thrown) {
        throw masking ? maskError(thrown, masking) : thrown;
      }
    });
    const settle = (error?: unknown) => {
      onSuspend();
      // The caller's signal may outlive many runs.
      if (error !== undefined || hasEnded(session)) signal?.removeEventListener("abort", cancelBySignal);
      segmentStream.end(error);
      reportEnd(options, session, error);
    };
    const started: Segment = { isSuspended: false, result };
    previous = result.then(() => settle(), settle);
    // A rejection belongs to the caller that awaits or iterates the run; without one it must not end the process.
    result.catch(() => undefined);
    return started;
  }

  function cancelBySignal(): void {
    send({ type: "cancel", reason: describeThrown(signal?.reason, "cancelled").message });
  }

  /** Undefined until the tools of the run are known: without them a message cannot be checked. */
  function getMessageContext(): MessageContext | undefined {
    const run = session?.isFolded ? session.state.run : undefined;
    return run?.id === runId && tools?.turn() !== 0 ? { agents, run, now: clock.now() } : undefined;
  }

  function send(sent: Message): void {
    const context = getMessageContext();
    const { message, late } = checkArrival(sent, context);
    if (message.type === "cancel" && (context?.run.done || inbox.isClosed())) return; // cancelling too late is not an error
    const removeDecision = addPendingDecision(pendingDecisions, message, context?.run);
    try {
      // Report a message that the run cannot accept to its sender. A message without effect needs no delivery.
      if (context && toFacts(message, context).length === 0) return;
      inbox.put(message, removeDecision);
    } catch (problem) {
      removeDecision?.();
      throw problem;
    }
    if (segment.isSuspended) segment = startSegment();
    if (message.type === "cancel") controller.abort(createCancelError(message));
    if (late) throw late;
  }

  return createRunHandle({
    ...{ id: runId, send },
    readEvents: () => stream.read(),
    getResult() {
      // A reader that awaits the run while it handles an event would otherwise wait for itself.
      stream.skipBusyReaders();
      return segment.result;
    },
  });
}

/** A run that waits for an answer keeps waiting when a message to it is rejected. */
function reportEnd({ runId, onProgress }: OpenRunOptions, session?: OpenSession, error?: unknown): void {
  const { run, sessionId } = session?.state ?? {};
  const isWaiting = run?.id === runId && !run.done && (error === undefined || run.waiting);
  onProgress?.(isWaiting ? "suspended" : "over", sessionId);
}

function createCancelError({ reason = "The run was cancelled." }: { readonly reason?: string }): AgentError {
  return new AgentError("cancelled", reason);
}

async function openFoundSession(
  options: OpenRunOptions,
  masking: SecretMask | undefined,
): Promise<OpenSession> {
  const { id, isNew } = await options.findSession();
  const session = await openSession(id, { ...options, masking, isNew });
  options.onProgress?.("running", id);
  return session;
}

/** Masks the given secrets and the keys of model providers in the environment; undefined without any. */
export function createRunMask(given: readonly string[] = []): SecretMask | undefined {
  const secrets = [...new Set([...given, ...listKeys()])];
  return secrets.length > 0 ? createMask(secrets) : undefined;
}

function hasEnded(session: OpenSession | undefined): boolean {
  return session?.state.run?.done !== undefined;
}
