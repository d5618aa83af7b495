import { AgentError, type RunInfo } from "capstan";
import { getScope, isInRun } from "capstan/sessions";
import { listedRuns } from "../../views/run-view.ts";
import { type A2aAsking, folded } from "./follow-task.ts";
import type { ListParams } from "./request.ts";
import { type A2aTask, withHistory } from "./wire.ts";

export type TaskPage = {
  readonly tasks: readonly A2aTask[];
  readonly nextPageToken: string;
  readonly pageSize: number;
  readonly totalSize: number;
};

const mostRuns = 1000;

/** The caller's tasks, of one context or of the newest ones; those that have changed last come first. */
export async function listTasks(asking: A2aAsking, params: ListParams): Promise<TaskPage> {
  const { pageSize, pageToken, historyLength, includeArtifacts } = params;
  const found = (await tasksOf(asking, params)).toSorted(newestFirst);
  const start = pageToken === "" ? 0 : found.findIndex((task) => tokenOf(task) === pageToken) + 1;
  if (pageToken !== "" && start === 0)
    throw new AgentError("invalid_input", "There is no such page: begin again without `pageToken`.");
  const page = found.slice(start, start + pageSize);
  const last = page.at(-1);
  return {
    tasks: page.map((task) => {
      const shown = withHistory(task, historyLength ?? 0);
      const { artifacts: _, ...rest } = shown;
      return includeArtifacts ? shown : rest;
    }),
    nextPageToken: last && start + page.length < found.length ? tokenOf(last) : "",
    pageSize: page.length,
    totalSize: found.length,
  };
}

async function tasksOf(asking: A2aAsking, params: ListParams): Promise<readonly A2aTask[]> {
  const { deployment, caller } = asking;
  const { contextId, status, statusTimestampAfter } = params;
  if (contextId !== undefined && getScope(contextId) !== caller.scope) return [];
  const wanted = { sessionId: contextId, scope: caller.scope, most: mostRuns };
  const runs = Map.groupBy(await listedRuns(deployment.store, wanted), ({ sessionId }) => sessionId);
  const since = statusTimestampAfter === undefined ? 0 : Date.parse(statusTimestampAfter);
  const tasks: A2aTask[] = [];
  for (const [sessionId, own] of runs) tasks.push(...(await tasksIn(asking, sessionId, own)));
  return tasks.filter(
    (task) =>
      (status === undefined || task.status.state === status) && Date.parse(task.status.timestamp) >= since,
  );
}

async function tasksIn(
  asking: A2aAsking,
  sessionId: string,
  runs: readonly RunInfo[],
): Promise<readonly A2aTask[]> {
  const facts = await asking.deployment.store.read(sessionId);
  return runs.map(({ runId }) => {
    const own = facts.filter((fact) => isInRun(fact, runId));
    return folded(asking, { runId, sessionId }, own).task();
  });
}

function newestFirst(left: A2aTask, right: A2aTask): number {
  const order = right.status.timestamp.localeCompare(left.status.timestamp);
  return order || left.id.localeCompare(right.id);
}

/** A page goes on behind this task. */
function tokenOf({ id }: A2aTask): string {
  return Buffer.from(id).toString("base64url");
}
