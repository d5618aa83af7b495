import { AgentError, type Fact, isFact } from "capstan";
import { findQueuedRun, getScope, isInRun, loadRunFacts, subscribe } from "capstan/sessions";
import type { Caller } from "../../access/caller.ts";
import type { Deployment } from "../../deployment.ts";
import { toClientError } from "../client-error.ts";
import { createTaskProjection, type TaskProjection } from "./task.ts";
import { type A2aFrame, type A2aTask, isTerminal } from "./wire.ts";

export type A2aContext = {
  readonly deployment: Deployment;
  readonly caller: Caller;
  /** Name of the agent; undefined for the first one. */
  readonly agent: string | undefined;
  /** From the `Idempotency-Key` header. */
  readonly key: string | undefined;
  /** Aborted when the client disconnects. */
  readonly signal: AbortSignal;
};

export type TaskLocation = { readonly runId: string; readonly sessionId: string };

/** Finds the caller's run of a task. Throws `unknown_run`, including for runs of other users. */
export async function locateTask({ deployment, caller }: A2aContext, taskId: string): Promise<TaskLocation> {
  const { store } = deployment;
  const sessionId = (await store.findSession(taskId)) ?? (await findQueuedRun(store, taskId))?.sessionId;
  if (sessionId === undefined || getScope(sessionId) !== caller.scope)
    throw new AgentError("unknown_run", `Task not found: "${taskId}".`);
  return { runId: taskId, sessionId };
}

export interface FollowedTask {
  getTask(): A2aTask;
  /** Yields later frames until the task suspends or ends. Ends early when the request is aborted. */
  readFrames(until: "rest" | "end"): AsyncGenerator<A2aFrame, void, undefined>;
}

/** Folds the facts of a task, from its start or up to now. */
export async function followTask(
  asking: A2aContext,
  place: TaskLocation,
  from: "start" | "now",
): Promise<FollowedTask> {
  const { store, shutdownSignal } = asking.deployment;
  const { runId, sessionId } = place;
  const own = (await store.findRun(runId)) ? await loadRunFacts(store, runId) : []; // none while it is queued
  const read = from === "start" ? own.slice(0, 1) : own;
  const projection = foldTask(asking, place, read);
  let position = read.at(-1)?.seq ?? 0;
  const isWaiting = () => projection.getState() === "TASK_STATE_INPUT_REQUIRED";
  /** A message is either still queued or already in the log; checking in this order cannot miss it. */
  async function isAnswered(): Promise<boolean> {
    if ((await store.listMessages(runId)).length > 0) return true;
    return (await store.read(sessionId, position, 1)).some((fact) => isInRun(fact, runId));
  }
  async function isOver(until: "rest" | "end"): Promise<boolean> {
    if (isTerminal(projection.getState())) return true;
    return until === "rest" && isWaiting() && !(await isAnswered());
  }
  /** The task was waiting when it was read, but has been answered since. */
  let isResumed = isWaiting() && (await isAnswered());

  return {
    getTask() {
      const task = projection.getTask();
      if (!isResumed) return task;
      return { ...task, status: { state: "TASK_STATE_WORKING", timestamp: task.status.timestamp } };
    },
    async *readFrames(until) {
      if (!isResumed && (await isOver(until))) return;
      const signal = AbortSignal.any([shutdownSignal, asking.signal]);
      for await (const event of subscribe(store, { runId, sessionId, after: position }, { signal })) {
        if (isFact(event)) position = event.seq;
        isResumed = false;
        const frames = projection.apply(event);
        const isEnd = frames.length > 0 && (await isOver(until));
        // Do not report INPUT_REQUIRED when an answer is already on its way: the client would stop reading.
        if (isEnd || !isWaiting() || until === "end") yield* frames;
        if (isEnd) return;
      }
    },
  };
}

export function foldTask(asking: A2aContext, place: TaskLocation, facts: readonly Fact[]): TaskProjection {
  const { runId: taskId, sessionId: contextId } = place;
  const projection = createTaskProjection({ taskId, contextId }, (error) =>
    toClientError(error, asking.caller, taskId),
  );
  for (const fact of facts) projection.apply(fact);
  return projection;
}
