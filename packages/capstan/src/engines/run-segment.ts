import { backgroundClock, type ClockOption, toClock } from "../base/clock.ts";
import { createProcessGate, type ProcessGate } from "../features/recovery/process-gate.ts";
import type { Agent } from "../kernel/agent.ts";
import { createId } from "../kernel/ids.ts";
import type { AgentCall, AgentContext, AgentOutput } from "../kernel/infer-agent.ts";
import type { ToolCall } from "../kernel/tool.ts";
import type { ExecutedRun, ExecutedSegment, ResumeOptions } from "../runtime/open-run.ts";
import type { Result } from "../runtime/result.ts";
import { type OptionsFor, resume } from "../runtime/run.ts";
import type { OnModelCall } from "../runtime/steps.ts";
import type { Store } from "../runtime/store.ts";

/** How a segment cooperates with the other processes of its engine. */
export type SegmentOptions<Context = unknown, Call extends ToolCall = ToolCall> = ResumeOptions<
  Context,
  Call
> & {
  /** Identifies this process in facts and leases. Default: a generated name. */
  readonly owner?: string;
  /** Another process may execute the run after this long without a sign of life. Default: 15 seconds. */
  readonly leaseMs?: number;
  /**
   * Takes the lease from a process that may still hold it: for an engine that knows that this process is gone. The former
   * holder can store nothing more, even if it was only paused.
   */
  readonly takeOver?: boolean;
  /** Aborted when the process shuts down: the run stops after the current step and is released. */
  readonly shutdownSignal?: AbortSignal;
  /** The clock for the lease. Default: the machine's. */
  readonly leaseClock?: ClockOption;
  /** Facts after which the run stores a snapshot of its session. Default: 300. */
  readonly snapshotEvery?: number | undefined;
  /** Called after every model call of the run and its nested runs. */
  readonly onModelCall?: OnModelCall;
  /** Called when the segment has its lease, and when it is over. */
  readonly onRunStart?: ((run: ExecutedRun) => void) | undefined;
  readonly onRunEnd?: ((segment: ExecutedSegment) => void) | undefined;
};

export const defaultLeaseMs = 15_000;

/** Runs of one store share a gate: a run that may have crashed a process before executes alone. */
const gates = new WeakMap<Store, ProcessGate>();

/**
 * Executes one segment of a stored run: from its start, or from a message to it, to its end or its next suspension.
 * While it executes, the run receives messages through the store and publishes its deltas there, so that any process can
 * send and read. Executing a run that has ended, or has nothing to do, changes nothing. Rejects with `session_busy` while
 * another process executes the run, with `lease_lost` when one took it over, with `aborted` after the shutdown signal, and
 * when the store fails: call it again, here or elsewhere. Finished steps are not repeated.
 */
export function runSegment<A extends Agent>(
  agents: A | readonly A[],
  source: { readonly store: Store; readonly runId: string },
  ...optionsWithContext: OptionsFor<A, SegmentOptions<AgentContext<A>, AgentCall<A>>>
): Promise<Result<AgentOutput<A>, AgentCall<A>>>;
export async function runSegment(
  agents: Agent | readonly Agent[],
  source: { readonly store: Store; readonly runId: string },
  options: SegmentOptions = {},
): Promise<Result> {
  const { owner = createId("worker_"), leaseMs = defaultLeaseMs, leaseClock, ...rest } = options;
  const clock = toClock(leaseClock ?? backgroundClock);
  const gate = gates.get(source.store) ?? createProcessGate(clock, leaseMs);
  gates.set(source.store, gate);
  const { takeOver, shutdownSignal, snapshotEvery, onModelCall, onRunStart, onRunEnd, ...resumeOptions } =
    rest;
  const shared = {
    ...{ owner, leaseMs, clock, gate, takeOver, snapshotEvery, onRunStart, onRunEnd, isTakeover: true },
    ...(shutdownSignal && { shutdownSignal }),
    ...(onModelCall && { onModelCall }),
  };
  return resume(agents, source, { ...resumeOptions, shared });
}
