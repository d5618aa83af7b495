import {
  type Agent,
  AgentError,
  type Event,
  type PolicyOverrides,
  type Run,
  type RunInput,
  type RunOptions,
  type Store,
} from "capstan";
import { type LocalEngine, local } from "capstan/engines/local";
import { rememberFolder } from "../sessions/session-folders.ts";

/** Shared by all runs of a workspace. */
export type EngineOptions = {
  readonly store: Store;
  readonly agents: readonly Agent[];
  readonly policy: PolicyOverrides;
  readonly folder: string;
  readonly log: (event: Event) => void;
};

// Short, so that a run can be resumed soon after its process was killed.
const leaseMs = 3_000;

/** See `Workspace.engine`. */
export function createEngine({ store, agents, policy, folder, log }: EngineOptions): LocalEngine {
  const requestedRuns = new Set<string>();
  let pendingRecord: Promise<unknown> = Promise.resolve();
  const engine = local({
    store,
    agents,
    leaseMs,
    startSchedules: false, // a server or a worker does
    getResumeOptions({ runId }) {
      // The database also holds old runs and runs of other folders: resume only the requested ones.
      if (!requestedRuns.has(runId)) throw new AgentError("aborted", "This run was not requested here.");
      return { hooks: { onEvent: log } };
    },
  });
  function start(agent: Agent, input: RunInput, given: Omit<RunOptions, "store"> = {}): Run {
    const { session = `ses_${crypto.randomUUID()}`, hooks = {} } = given;
    const told = hooks.onEvent;
    const onEvent = (event: Event) => {
      log(event);
      if (event.type === "run_start") pendingRecord = rememberFolder(store, session, folder);
      told?.(event);
    };
    return engine.run(agent, input, { policy, ...given, session, hooks: { ...hooks, onEvent } });
  }

  return {
    ...engine,
    run: start as LocalEngine["run"],
    open(runId) {
      requestedRuns.add(runId);
      void engine.recover().catch(() => undefined); // retried by the engine
      return engine.open(runId);
    },
    async send(runId, message) {
      requestedRuns.add(runId);
      await engine.send(runId, message);
    },
    async close() {
      await engine.close();
      await pendingRecord;
    },
  };
}
