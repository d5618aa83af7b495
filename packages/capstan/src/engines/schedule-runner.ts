import { type Clock, repeatEvery } from "../base/clock.ts";
import { AgentError } from "../base/errors.ts";
import type { Agent } from "../kernel/agent.ts";
import { createId } from "../kernel/ids.ts";
import type { RunInput } from "../runtime/input.ts";
import type { RunOptions } from "../runtime/run.ts";
import type { RunInfo, Store } from "../runtime/store.ts";
import type { Schedule, ScheduleLimits, ScheduleOptions } from "../schedules/schedule.ts";
import { createDueStarter, type ScheduledRun, toScheduledRun } from "../schedules/start-due.ts";
import {
  addSchedule,
  listSchedules,
  loadSchedule,
  pauseSchedule,
  recordManualRun,
  removeSchedule,
  resumeSchedule,
} from "../schedules/stored-schedules.ts";
import type { AgentResolver } from "./agent-resolver.ts";
import type { EnqueuedRun, LocalOptions } from "./local-engine.ts";
import { loadResumeOptions } from "./resume-options.ts";

/** The options of `schedule`: the agent is one of the engine's, or its name. */
export type EngineScheduleOptions<A extends Agent = Agent> = Omit<ScheduleOptions, "agent"> & {
  readonly agent: A | string;
};

/** The schedules on the store of an engine. */
export interface Schedules {
  /** Lists the schedules of one user, or all: those that start next come first. */
  list(filter?: { readonly user?: string }): Promise<readonly Schedule[]>;
  /** Rejects with `not_found`, as the methods below do. */
  get(id: string): Promise<Schedule>;
  pause(id: string): Promise<Schedule>;
  /** Continues with the next time. Rejects with `invalid_input` if there is none. */
  resume(id: string): Promise<Schedule>;
  /** Runs that it has started continue. */
  remove(id: string): Promise<void>;
  /** Starts a run now, in addition to its times. */
  run(id: string, options?: { readonly runId?: string }): Promise<EnqueuedRun>;
}

export interface ScheduleRunner {
  schedule(options: EngineScheduleOptions): Promise<Schedule>;
  readonly schedules: Schedules;
  /** Starts the runs that are due. */
  startDue(): Promise<void>;
  /** Resolves when no run is being started. */
  close(): Promise<void>;
}

type ScheduleSettings = Pick<
  LocalOptions,
  "getResumeOptions" | "scheduleLimits" | "startScheduled" | "onMissed"
>;

export type ScheduleRunnerOptions = ScheduleSettings & {
  readonly store: Store;
  readonly clock: Clock;
  readonly agents: AgentResolver;
  /** Whether this process starts the runs that are due. */
  readonly isWorker: boolean;
  enqueue(agent: Agent, input: RunInput, options: Omit<RunOptions, "store">): Promise<EnqueuedRun>;
};

/** How often a process looks for schedules that are due. */
const pollMs = 1_000;
/** An application may schedule much; what its users may is limited by the server and the tool. */
const defaultLimits: ScheduleLimits = { maxSchedules: 100_000, minIntervalMs: 1_000 };

export function createScheduleRunner(options: ScheduleRunnerOptions): ScheduleRunner {
  const { store, clock, agents, isWorker } = options;
  const closing = new AbortController();
  const start = (run: ScheduledRun) => startScheduledRun(options, run);
  const starter = createDueStarter({
    ...{ store, clock, start, signal: closing.signal },
    ...(options.onMissed && { onMissed: options.onMissed }),
    hasAgent: async (agent) => (await agents.resolveAgents(agent)) !== undefined,
  });
  let look: Promise<unknown> | undefined;

  /** One look at a time. */
  async function startDue(): Promise<void> {
    if (closing.signal.aborted || !isWorker) return;
    look ??= starter.startDue().finally(() => {
      look = undefined;
    });
    await look;
  }
  // If the store cannot be read now, the next look tries again.
  const poll = () => void startDue().catch(() => undefined);
  const stopPolling = isWorker ? repeatEvery(clock, pollMs, poll) : () => undefined;
  poll();

  return {
    async schedule({ agent, ...given }) {
      const name = typeof agent === "string" ? agent : agents.assertKnown(agent).name;
      if (!(await agents.resolveAgents(name)))
        throw new AgentError(
          "unknown_agent",
          `Agent "${name}" not found. Pass it to the engine as one of its \`agents\`.`,
        );
      const limits = { ...defaultLimits, ...options.scheduleLimits };
      return addSchedule({ ...given, agent: name }, { store, now: clock.now(), limits });
    },
    schedules: {
      list: (filter) => listSchedules(store, filter),
      get: (id) => loadSchedule(store, id),
      pause: (id) => pauseSchedule(store, id),
      resume: (id) => resumeSchedule(store, id, clock.now()),
      remove: (id) => removeSchedule(store, id),
      async run(id, { runId = createId("run_") } = {}) {
        const enqueued = await start(toScheduledRun(id, await loadSchedule(store, id), runId));
        const { sessionId } = enqueued;
        await recordManualRun(store, id, { runId, sessionId, at: clock.now() });
        return enqueued;
      },
    },
    startDue,
    async close() {
      stopPolling();
      closing.abort();
      await look?.catch(() => undefined);
    },
  };
}

/** Stores the start of a run. A run that is stored already is found by its id. */
async function startScheduledRun(options: ScheduleRunnerOptions, run: ScheduledRun): Promise<EnqueuedRun> {
  const { agents, clock, enqueue, startScheduled } = options;
  const { scheduleId: _, agent: name, runId, sessionId, input, ...runOptions } = run;
  const agent = (await agents.resolveAgents(name))?.find((known) => known.name === name);
  if (!agent) throw new AgentError("unknown_agent", `Agent "${name}" of the schedule not found.`);
  if (startScheduled) return startScheduled(run, agent);
  const at = clock.now();
  const info: RunInfo = { runId, sessionId, agent: name, state: "active", startedAt: at, updatedAt: at };
  const resumeOptions = await loadResumeOptions(options, info);
  return enqueue(agent, input, { ...resumeOptions, ...runOptions, runId, session: sessionId });
}
