import { AgentError } from "capstan";
import { getScope, loadRunFacts } from "capstan/sessions";
import { listRuns } from "../../views/run-view.ts";
import { type A2aContext, foldTask } from "./follow-task.ts";
import type { ListParams } from "./request.ts";
import { type A2aTask, withHistory } from "./wire.ts";

export type TaskPage = {
  readonly tasks: readonly A2aTask[];
  readonly nextPageToken: string;
  readonly pageSize: number;
  readonly totalSize: number;
};

const maxRuns = 1000;

/** Lists the caller's tasks in one context, or in the newest ones; last changed first. */
export async function listTasks(asking: A2aContext, params: ListParams): Promise<TaskPage> {
  const { pageSize, pageToken, historyLength, includeArtifacts } = params;
  const found = (await findTasks(asking, params)).toSorted(compareByTime);
  const start = pageToken === "" ? 0 : found.findIndex((task) => toPageToken(task) === pageToken) + 1;
  if (pageToken !== "" && start === 0)
    throw new AgentError("invalid_input", "Invalid `pageToken`. Start again without one.");
  const page = found.slice(start, start + pageSize);
  const last = page.at(-1);
  return {
    tasks: page.map((task) => {
      const shown = withHistory(task, historyLength ?? 0);
      const { artifacts: _, ...rest } = shown;
      return includeArtifacts ? shown : rest;
    }),
    nextPageToken: last && start + page.length < found.length ? toPageToken(last) : "",
    pageSize: page.length,
    totalSize: found.length,
  };
}

async function findTasks(asking: A2aContext, params: ListParams): Promise<readonly A2aTask[]> {
  const { deployment, caller } = asking;
  const { contextId, status, statusTimestampAfter } = params;
  if (contextId !== undefined && getScope(contextId) !== caller.scope) return [];
  const wanted = { sessionId: contextId, scope: caller.scope, limit: maxRuns };
  const runs = await listRuns(deployment.store, wanted);
  const since = statusTimestampAfter === undefined ? 0 : Date.parse(statusTimestampAfter);
  const tasks: A2aTask[] = [];
  for (const { runId, sessionId } of runs)
    tasks.push(foldTask(asking, { runId, sessionId }, await loadRunFacts(deployment.store, runId)).getTask());
  return tasks.filter(
    (task) =>
      (status === undefined || task.status.state === status) && Date.parse(task.status.timestamp) >= since,
  );
}

function compareByTime(left: A2aTask, right: A2aTask): number {
  const order = right.status.timestamp.localeCompare(left.status.timestamp);
  return order || left.id.localeCompare(right.id);
}

/** The next page starts after this task. */
function toPageToken({ id }: A2aTask): string {
  return Buffer.from(id).toString("base64url");
}
