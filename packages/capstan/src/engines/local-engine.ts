import type { ClockOption } from "../base/clock.ts";
import type { Json } from "../base/json.ts";
import type { CallPreview } from "../features/calls/pending-calls.ts";
import type { TriedTurn } from "../features/exact-requests/stored-request.ts";
import type { Agent } from "../kernel/agent.ts";
import type { AgentCall, AgentContext, AgentOutput } from "../kernel/infer-agent.ts";
import type { ToolCall } from "../kernel/tool.ts";
import type { RunInput } from "../runtime/input.ts";
import type { ExecutedRun, ExecutedSegment, ResumeOptions } from "../runtime/open-run.ts";
import type { Result } from "../runtime/result.ts";
import type { OptionsFor, RunOptions } from "../runtime/run.ts";
import type { Run } from "../runtime/run-handle.ts";
import type { RunInfo, RunMessage, Store } from "../runtime/store.ts";
import type { TurnRequest } from "../runtime/turn-request.ts";
import type { Schedule, ScheduleLimits } from "../schedules/schedule.ts";
import type { ScheduledRun } from "../schedules/start-due.ts";
import type { Rerun, RerunOptions } from "../sessions/rerun.ts";
import type { EngineScheduleOptions, Schedules } from "./schedule-runner.ts";
import type { MessageCheck } from "./stored-run.ts";
import type { StuckFilter, StuckRun } from "./stuck-runs.ts";
import type { TurnChanges } from "./try-turn.ts";

/** Returns the agent with this name, with the agents it hands off to; undefined when it does not exist. */
export type FindAgent<A extends Agent = Agent> = (name: string) => A | undefined | Promise<A | undefined>;

export type LocalOptions<A extends Agent = Agent> = {
  readonly store: Store;
  /** Every agent that a stored run may need, or a function that finds one by name, where agents change at run time. */
  readonly agents: A | readonly A[] | FindAgent<A>;
  /** Identifies this process in facts and leases. Default: a generated name. */
  readonly owner?: string;
  /** Another process may take over a run after this long without a sign of life. Default: 15 seconds. */
  readonly leaseMs?: number;
  /** The clock for leases, orphaned runs, and approvals that arrive. Default: the machine's. */
  readonly clock?: ClockOption;
  /** Facts after which a run stores a snapshot of its session, so that opening the session is cheap. Default: 300. */
  readonly snapshotEvery?: number;
  /** While it executes this many runs, it takes over no more. Default: 500. Messages are always accepted. */
  readonly maxRuns?: number;
  /**
   * While it executes this many runs of one user, it takes over no more of that user's, so that others find a place. The
   * user is the part of a session's id before the first `~`. Default: nine tenths of `maxRuns`.
   */
  readonly maxRunsPerUser?: number;
  /**
   * False in a process that executes no runs, such as a web server next to workers: it stores starts and messages, and
   * follows the runs. Default: true.
   */
  readonly work?: boolean;
  /** Whether this process starts the runs of schedules that are due. Default: true. */
  readonly startSchedules?: boolean;
  /** What each user may schedule. Default: 100,000 schedules, and an interval of a second. */
  readonly scheduleLimits?: Partial<ScheduleLimits>;
  /**
   * Stores the start of a run that is due, in place of `enqueue`, such as within the quotas of its user. Called again with
   * the same run if it was not stored. A rejection is listed with the runs of the schedule.
   */
  readonly startScheduled?: (run: ScheduledRun, agent: Agent) => Promise<EnqueuedRun>;
  /** Called when times of a schedule were missed because no process was there. */
  readonly onMissed?: (schedule: Schedule, count: number) => void;
  /** Called when this process starts to execute a run, also after a wait, and when it suspends or ends. */
  readonly onRunStart?: (run: ExecutedRun) => void;
  readonly onRunEnd?: (segment: ExecutedSegment) => void;
} & ResumeOptionsSource<AgentContext<A>, ResumeOptions<AgentContext<A>, AgentCall<A>>>;

/** Returns the options of runs that were started elsewhere: their `context`, hooks and secrets are not stored. */
type ResumeOptionsSource<Context, Options> = undefined extends Context
  ? { readonly getResumeOptions?: (run: RunInfo) => Options | Promise<Options> }
  : {
      readonly getResumeOptions: (
        run: RunInfo,
      ) => WithContext<Context, Options> | Promise<WithContext<Context, Options>>;
    };
type WithContext<Context, Options> = Options & { readonly context: Context };

/**
 * The run of a stored message. `started`: it executes here, or on a worker. `queued`: it starts when its turn comes. `steered`: `runId` is
 * the unfinished run that the message was sent to. `found`: a run with this id existed.
 */
export type EnqueuedRun = {
  readonly runId: string;
  readonly sessionId: string;
  readonly state: "started" | "queued" | "steered" | "found";
};

export type TryOptions = Pick<ResumeOptions, "context" | "secrets" | "hooks" | "signal"> & {
  readonly changes?: TurnChanges;
};

export type PreviewOptions = Pick<ResumeOptions, "context" | "secrets"> & {
  /** Default: the model's own arguments. */
  readonly input?: Json;
};

/** Runs on a store that outlives the process. Any number of processes may share the store. */
export interface LocalEngine<Output = Json | undefined, Call extends ToolCall = ToolCall> {
  /** Set if other processes may execute the runs that are started here. */
  readonly isRemote?: true;
  /**
   * Starts a run of one of the agents. With the `runId` of a stored run and the same input, the handle follows that run:
   * another process may execute it, or take it over when its process is gone. If the session is busy, the policy `onBusy`
   * applies: the events of a queued run begin when its turn comes, in whichever process; the handle of a message that
   * steers follows the run that takes it.
   */
  run<A extends Agent>(
    agent: A,
    input: RunInput,
    ...optionsWithContext: OptionsFor<A, Omit<RunOptions<AgentContext<A>, AgentCall<A>>, "store">>
  ): Run<AgentOutput<A>, AgentCall<A>>;
  /**
   * Stores the start of a run and resolves: nothing of it is lost if the process stops. If its session is idle, the run
   * starts here, or in any process that has capacity. Otherwise the policy `onBusy` applies, and any process starts a
   * queued run when its turn comes. Other processes use the options of `getResumeOptions`. Rejects with `session_busy` or
   * `queue_full`.
   */
  enqueue<A extends Agent>(
    agent: A,
    input: RunInput,
    ...optionsWithContext: OptionsFor<A, Omit<RunOptions<AgentContext<A>, AgentCall<A>>, "store">>
  ): Promise<EnqueuedRun>;
  /**
   * Starts runs at a time, at intervals, or by cron: any process with an engine on the store does, each run once. Resolves
   * when the schedule is stored. Rejects with `invalid_input`, and with `idempotency_conflict` for an `id` that is used.
   */
  schedule(options: EngineScheduleOptions): Promise<Schedule>;
  readonly schedules: Schedules;
  /** Opens a stored run, whichever process executes it: await or iterate it, approve, steer, cancel. */
  open(runId: string): Run<Output, Call>;
  /** Returns the result of a run so far, without waiting. A run that is still active has the status `waiting`. */
  getResult(runId: string): Promise<Result<Output, Call>>;
  /** Rebuilds the request of a turn from the facts. Calls no model. Rejects with `not_found`. */
  getTurnRequest(
    runId: string,
    turn: number,
    options?: Pick<ResumeOptions, "context" | "secrets">,
  ): Promise<TurnRequest>;
  /**
   * Calls a model once with the request of a turn, with changes to it. No tool runs, and nothing is stored. Rejects with
   * `not_found`, and with the error of the model.
   */
  tryTurn(runId: string, turn: number, options?: TryOptions): Promise<TriedTurn>;
  /** Runs again in a fork. The new run is recovered like any other. */
  rerun(options: RerunOptions): Promise<Rerun>;
  /**
   * Checks a message before it is sent. Rejects when the run, in its
   * current state, cannot accept it: with `unknown_call`, `approval_conflict`, `approval_expired`,
   * `idempotency_conflict`, `run_ended`, `run_stuck`, or `invalid_input` for an answer that does not match the schema of
   * its question. If an expired approval is sent nevertheless, the run continues with the call denied.
   */
  checkMessage(runId: string, message: RunMessage): Promise<MessageCheck>;
  /**
   * Checks a call that waits for approval with other arguments, before the user approves them: the reason, the warnings
   * and the preview are those of the changed call. Nothing is stored. Rejects with `unknown_call`, and with
   * `invalid_input` for arguments that do not match the schema or that the tool refuses.
   */
  previewCall(runId: string, callId: string, options?: PreviewOptions): Promise<CallPreview>;
  /**
   * Sends a message to a run, and resumes the run when no process executes it. Resolves when the message is stored.
   * Rejects with `run_stuck` if this process cannot resume the run, except to cancel it, and with `newer_version`.
   */
  send(runId: string, message: RunMessage): Promise<void>;
  /** Takes over runs whose process is gone, and returns their ids. Starts what is due. Also called automatically, at the start and then regularly. */
  recover(): Promise<readonly string[]>;
  /** Lists the unfinished runs that no process executes and this one cannot continue, with the reason. */
  listStuck(filter?: StuckFilter): Promise<readonly StuckRun[]>;
  /** Stops after the current step and releases its runs, so that another process can resume them. */
  close(): Promise<void>;
}
