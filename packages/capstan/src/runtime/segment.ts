import { systemClock } from "../base/clock.ts";
import { AgentError, describeThrown } from "../base/errors.ts";
import { findTool } from "../features/calls/find-tool.ts";
import { findAgentByCall } from "../features/calls/pending-calls.ts";
import { createSharedBudget, type SharedBudget } from "../features/limits/shared-budget.ts";
import type { Agents } from "../kernel/agent.ts";
import { truncateAnswer } from "../kernel/calls/truncate-outcome.ts";
import type { Engine } from "../kernel/effect.ts";
import { type FactBody, isFact } from "../kernel/event.ts";
import { createId } from "../kernel/ids.ts";
import type { State } from "../kernel/state.ts";
import type { SecretMask } from "../secrets/mask.ts";
import type { DynamicTools } from "./dynamic-tools.ts";
import { completeEdit } from "./edited-arguments.ts";
import { createEngine } from "./engine.ts";
import { enterProcess, type ProcessEntry } from "./enter-process.ts";
import type { EventStream } from "./event-stream.ts";
import { type Inbox, syncInbox } from "./inbox.ts";
import { assertContext } from "./input.ts";
import { acquireLease, type HeldLease } from "./lease.ts";
import { type Log, openLog, type SessionLog } from "./log.ts";
import { runLoop } from "./loop.ts";
import { withMaskedLog } from "./masked-log.ts";
import type { OpenRunOptions } from "./open-run.ts";
import { foldNewFacts, type OpenSession, saveSnapshot } from "./open-session.ts";
import { buildResult, type Result } from "./result.ts";
import type { RunServices } from "./services.ts";

/** State shared by the segments of one run in this process. */
export type SegmentContext = {
  readonly agents: Agents;
  readonly tools: DynamicTools | undefined;
  /** Undefined when the run has no secrets: then nothing is masked. */
  readonly masking: SecretMask | undefined;
  readonly session: OpenSession;
  readonly state: State;
  readonly stream: EventStream;
  readonly inbox: Inbox;
  readonly controller: AbortController;
  onSuspend(): void;
};

/** Executes one segment: from a start or an answer to the end of the run or its next suspension. */
export async function executeSegment(options: OpenRunOptions, context: SegmentContext): Promise<Result> {
  const { runId, store, shared } = options;
  const { agents, state } = context;
  const executedRun = { runId, sessionId: state.sessionId };
  shared?.onRunStart?.(executedRun);
  let errorCode: string | undefined;
  try {
    await runWithLease(options, context);
    // A sender that saw the lease taken did not resume the run, so check for messages before returning.
    while (shared && !shared.startOnly && !state.run?.done && (await store.listMessages(runId)).length > 0) {
      try {
        await runWithLease(options, context);
      } catch (thrown) {
        if (describeThrown(thrown, "store_failed").code !== "session_busy") throw thrown;
        break;
      }
    }
  } catch (thrown) {
    errorCode = describeThrown(thrown, "store_failed").code;
    throw thrown;
  } finally {
    shared?.onRunEnd?.({ ...executedRun, ...(errorCode && { errorCode }) });
  }
  if (state.run?.id !== runId)
    throw new AgentError("unknown_run", `Run "${runId}" was not found in session "${state.sessionId}".`);
  return buildResult(agents, state, state.run);
}

/** Acquires the session's lease, folds new facts, appends `run_start`, runs the loop, and releases the lease. */
async function runWithLease(options: OpenRunOptions, context: SegmentContext): Promise<void> {
  const { runId, store, shared } = options;
  const { agents, session, state, inbox, controller } = context;
  const { sessionId } = state;
  const lease = await acquireLease({
    store,
    sessionId,
    owner: shared ? createId(shared.owner, "/") : createId(runId, "."),
    leaseMs: shared?.leaseMs,
    takeOver: shared?.takeOver,
    clock: shared?.clock,
    onLost: (error) => controller.abort(error),
  });
  let isFolded = false;
  let cancelReason: string | undefined;
  // A cancel message that an ended run has not received is dropped, and must not abort the run once it is retried.
  const abortEffects = () => {
    if (isFolded && cancelReason !== undefined && !state.run?.done)
      controller.abort(new AgentError("cancelled", cancelReason));
  };
  const abort = (reason = "The run was cancelled.") => {
    cancelReason = reason;
    abortEffects();
  };
  const sync = shared && !shared.startOnly ? syncInbox({ store, sessionId, runId, inbox, abort }) : undefined;
  let entry: ProcessEntry | undefined;
  let engine: Engine | undefined;
  try {
    // New facts of a run that was open before were written by another process while the run waited.
    const onFact = session.isFolded ? context.stream.push : undefined;
    const folding = { store, runId, masking: context.masking };
    const isOutdated = !session.isNew && (await foldNewFacts(session, folding, onFact));
    session.isNew = false;
    session.isFolded = true;
    isFolded = true;
    abortEffects();
    const { sessionLog, log } = openLogs(options, context, lease);
    const isNewRun = state.run?.id !== runId;
    if (isNewRun) await options.start(log, state);
    if (state.run?.id !== runId || shared?.startOnly) return;
    await sync?.pull(); // first, because a cancelled run does not have to wait at the gate
    const agent = agents.get(state.run.handoffs[0]?.agent ?? state.run.agent);
    // A run that resumes without its context can still be cancelled.
    if (agent?.context && !isNewRun && !controller.signal.aborted)
      await assertContext(agent, options.context);
    if (shared || state.run.waiting || state.run.isAlone)
      entry = await enterProcess(options, { state, log, lease: lease.lease, signal: controller.signal });
    const services = createServices(options, context, { lease, log: sessionLog });
    engine = createEngine(services, { agents, state, log, signal: controller.signal });
    const { clock, shutdownSignal } = services;
    await runLoop({
      ...context,
      engine,
      log,
      clock,
      isOutdated,
      shutdownSignal,
      completeFact: (fact) => completeFact(options, context, fact),
      pull: sync?.pull,
      retryPull: sync?.retryPull,
    }).finally(() => log.append([], "")); // while the lease is held
    await saveSnapshot(session, { store, lease: lease.lease, every: shared?.snapshotEvery });
  } finally {
    await engine?.release?.();
    sync?.close();
    await entry?.stop();
    await lease.release().finally(entry?.leave);
  }
}

function createServices(
  { store, shared, context, hooks = {}, clock = systemClock }: OpenRunOptions,
  { masking, inbox }: SegmentContext,
  { lease, log }: Pick<RunServices, "lease" | "log">,
): RunServices {
  const { shutdownSignal, onModelCall } = shared ?? {};
  let budget: SharedBudget | undefined;
  return {
    ...{ store, lease, clock, context, hooks, masking, log, shutdownSignal, onModelCall },
    ...{ canSuspend: shared !== undefined, whenMessage: inbox.whenNotEmpty },
    openBudget() {
      budget ??= createSharedBudget();
      return budget;
    },
  };
}

/**
 * Truncates the result that a client sent, and checks changed arguments. Masks them first, so that no half of a secret
 * remains, and the digest is computed from the stored arguments.
 */
async function completeFact(
  { store, context, clock = systemClock }: OpenRunOptions,
  { agents, masking, state }: SegmentContext,
  fact: FactBody,
): Promise<FactBody> {
  const { run, sessionId } = state;
  if (!run || (fact.type !== "tool_call_result" && fact.type !== "approval_resolved")) return fact;
  const masked = masking ? masking.fact(fact) : fact;
  if (masked.type === "approval_resolved") return completeEdit(masked, { agents, state, context, clock });
  const agent = findAgentByCall(agents, run, masked.id);
  return truncateAnswer(masked, {
    tool: agent && findTool(agent, masked.name),
    policy: run.policy,
    blobs: { put: (blob) => store.putBlob(sessionId, blob) },
  });
}

/** `log` masks secrets. Nested runs mask their own facts, so they write through `sessionLog`. */
type Logs = { readonly sessionLog: SessionLog; readonly log: Log };

function openLogs(options: OpenRunOptions, context: SegmentContext, { lease }: HeldLease): Logs {
  const { store, runId, agents, shared, hooks, clock = systemClock } = options;
  const { masking, session, state, stream, inbox, controller } = context;
  let isHookActive = hooks?.onEvent !== undefined;
  const reportHookError = (thrown: unknown) => {
    if (!isHookActive) return;
    isHookActive = false;
    const { message: cause } = describeThrown(thrown, "tool_failed");
    const message = `The onEvent hook threw and is not called again: ${cause}`;
    // No fact may follow the end. If this append fails, the run itself fails.
    if (!state.run?.done)
      log.append([{ type: "warning", code: "hook_failed", message }], "hook").catch(() => undefined);
  };
  const sessionLog = openLog({
    store,
    lease,
    state,
    clock,
    runId,
    agent: agents.keys().next().value ?? "",
    emit(event) {
      stream.push(event);
      if (shared && !isFact(event)) store.publish(state.sessionId, [{ after: state.seq, delta: event }]);
      // Another process may have to take over in the middle of a long segment.
      else if (shared) void saveSnapshot(session, { store, lease, every: shared.snapshotEvery });
      if (shared && isFact(event) && !state.run?.isAlone) shared.gate.share(runId);
      if (!isHookActive) return;
      try {
        const returned: unknown = hooks?.onEvent?.(event);
        // An async hook is not awaited; its rejection must not end the process.
        if (returned instanceof Promise) returned.catch(reportHookError);
      } catch (thrown) {
        reportHookError(thrown);
      }
    },
    hasListener: () => isHookActive || stream.hasReaders(),
    fail(error, storedSeq) {
      session.storedSeq = storedSeq;
      controller.abort(error);
    },
    inbox,
  });
  const log: Log = masking ? withMaskedLog(sessionLog, masking) : sessionLog;
  return { sessionLog, log };
}
