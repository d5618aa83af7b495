import { AgentError, describeThrown, type ErrorData, toErrorData } from "../base/errors.ts";
import { findTool } from "../features/calls/find-tool.ts";
import type { Agent, Agents } from "../kernel/agent.ts";
import { factVersion } from "../kernel/event.ts";
import { getScope } from "../kernel/session-id.ts";
import type { RunState } from "../kernel/state.ts";
import type { MessageBody, RunInfo, Store } from "../runtime/store.ts";

/** An unfinished run that this process cannot continue, and why. The reason is not stored: it depends on the process. */
export type StuckRun = RunInfo & { readonly reason: ErrorData };

type RunSource = {
  readonly store: Store;
  /** Returns every agent that a run of this agent may need; undefined when the agent does not exist. */
  resolveAgents(agent: string): Promise<readonly Agent[] | undefined>;
};

type LoadedRun = { readonly agents: Agents; readonly run: RunState };

/** Restricts a listing to one session, or to the sessions of one scope. Default: all. */
export type StuckFilter = { readonly sessionId?: string | undefined; readonly scope?: string | undefined };

/** Lists the unfinished runs that no process executes and this one cannot continue. `load` folds one of them. */
export async function listStuckRuns(
  source: RunSource & { load(runId: string): Promise<LoadedRun> },
  filter: StuckFilter = {},
): Promise<readonly StuckRun[]> {
  const stuckRuns: StuckRun[] = [];
  for (const info of await listIdleRuns(source.store, filter)) {
    const reason = (await findObstacle(source, info)) ?? findMissingPart(await source.load(info.runId));
    if (reason) stuckRuns.push({ ...info, reason });
  }
  return stuckRuns;
}

/** Lists the unfinished runs that no process executes. For one session, avoids listing the runs of other sessions. */
async function listIdleRuns(store: Store, { sessionId, scope }: StuckFilter): Promise<readonly RunInfo[]> {
  if (sessionId === undefined) {
    const runs = await store.listOrphans({ includeWaiting: true });
    return runs.filter((run) => scope === undefined || getScope(run.sessionId) === scope);
  }
  const [newest] = await store.listRuns(sessionId, 1);
  if (!newest || newest.state === "ended") return [];
  if (newest.state === "waiting") return [newest];
  return store.listOrphans({ runId: newest.runId });
}

/**
 * Rejects with `run_stuck` or `newer_version` when no process executes the run and this one cannot. Only cancelling is
 * allowed then, which needs no agent.
 */
export async function assertResumable(source: RunSource, runId: string, message: MessageBody): Promise<void> {
  const info = await source.store.findRun(runId);
  if (!info || (info.state === "ended" && message.type !== "retry")) return;
  const obstacle = await findObstacle(source, info);
  if (!obstacle) return;
  if (obstacle.code === "newer_version") throw new AgentError("newer_version", obstacle.message);
  if (message.type === "cancel") return;
  // A process that executes the run has what is missing here.
  const [orphan] = await source.store.listOrphans({ includeWaiting: true, runId });
  if (info.state === "ended" || orphan) throw createStuckError(runId, obstacle);
}

/** Throws `run_stuck` for a message to a run that waits for a missing tool. Denying the call is allowed. */
export function assertHasTools(loaded: LoadedRun, message: MessageBody): void {
  const reason = findMissingTool(loaded);
  if (reason && message.type !== "cancel" && message.type !== "deny")
    throw createStuckError(loaded.run.id, reason);
}

/** Returns why this process cannot open the run, without reading its facts. */
async function findObstacle({ resolveAgents }: RunSource, info: RunInfo): Promise<ErrorData | undefined> {
  if (info.newerVersion !== undefined) {
    const message = `A newer version of Capstan stored the facts of run "${info.runId}" (version ${info.newerVersion}; this process reads up to ${factVersion}). Update this process.`;
    return toErrorData("newer_version", message);
  }
  try {
    return (await resolveAgents(info.agent)) ? undefined : describeMissingAgent(info.agent);
  } catch (thrown) {
    const error = describeThrown(thrown, "invalid_definition");
    // The store that the agents come from failed. Data that is still loading is a reason to wait, not a failure.
    if (error.retryable && error.code !== "data_loading") throw thrown;
    return error; // the agent exists, but not its model, its data or one of its tools
  }
}

function findMissingPart(loaded: LoadedRun): ErrorData | undefined {
  const { agents, run } = loaded;
  return agents.has(run.agent) ? findMissingTool(loaded) : describeMissingAgent(run.agent);
}

function findMissingTool({ agents, run }: LoadedRun): ErrorData | undefined {
  const agent = agents.get(run.agent);
  if (!agent || !run.waiting) return undefined;
  const openCalls = [...(run.currentTurn?.calls.values() ?? [])].filter((call) => !call.result);
  const name = openCalls.map(({ part }) => part.name).find((each) => !findTool(agent, each));
  if (name === undefined) return undefined;
  const message = `The tool "${name}", which the run waits for, is not configured. Add it to the agent "${agent.name}", or deny the call.`;
  return toErrorData("unknown_tool", message);
}

function describeMissingAgent(name: string): ErrorData {
  const message = `The agent "${name}" is not configured. Add it to the agents of this process, or cancel the run.`;
  return toErrorData("unknown_agent", message);
}

function createStuckError(runId: string, reason: ErrorData): AgentError {
  return new AgentError("run_stuck", `Run "${runId}" cannot continue. ${reason.message}`);
}
