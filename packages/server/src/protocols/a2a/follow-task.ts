import { AgentError, type Fact, isFact } from "capstan";
import { getScope, isInRun, subscribe } from "capstan/sessions";
import type { Caller } from "../../access/caller.ts";
import type { Deployment } from "../../deployment.ts";
import { shownError } from "../client-error.ts";
import { type TaskProjection, taskProjection } from "./task.ts";
import { type A2aFrame, type A2aTask, isTerminal } from "./wire.ts";

/** A request of somebody. */
export type A2aAsking = {
  readonly deployment: Deployment;
  readonly caller: Caller;
  /** The one that answers; the first one when left out. */
  readonly agent: string | undefined;
  /** Of the header `Idempotency-Key`. */
  readonly key: string | undefined;
  /** Aborted when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
};

/** A run and where it is stored. */
export type TaskPlace = { readonly runId: string; readonly sessionId: string };

/** The run of a task, if it is the caller's: to anybody else it is not there. Throws `unknown_run`. */
export async function placeOf({ deployment, caller }: A2aAsking, taskId: string): Promise<TaskPlace> {
  const { store } = deployment;
  const sessionId = await store.findSession(taskId);
  const isTheirs = sessionId !== undefined && getScope(sessionId) === caller.scope;
  const runs = isTheirs ? await store.listRuns(sessionId) : [];
  if (!isTheirs || !runs.some(({ runId }) => runId === taskId))
    throw new AgentError("unknown_run", `There is no task "${taskId}".`);
  return { runId: taskId, sessionId };
}

/** A task as it is, and what comes. */
export interface FollowedTask {
  task(): A2aTask;
  /** What comes from here on: until it rests, or until its end. Ends early with the request. */
  frames(until: "rest" | "end"): AsyncGenerator<A2aFrame, void, undefined>;
}

/** Reads the facts of a task; `from` is its first moment, or this one. */
export async function followTask(
  asking: A2aAsking,
  place: TaskPlace,
  from: "start" | "now",
): Promise<FollowedTask> {
  const { store, leaving } = asking.deployment;
  const { runId, sessionId } = place;
  const facts = await store.read(sessionId);
  const own = facts.filter((fact) => isInRun(fact, runId));
  const read = from === "start" ? own.slice(0, 1) : own;
  const projection = folded(asking, place, read);
  let position = read.at(-1)?.seq ?? 0;
  const waits = () => projection.state() === "TASK_STATE_INPUT_REQUIRED";
  /** What it was told is either unheard or behind here in the log: looked for in this order, it cannot be missed. */
  async function isAnswered(): Promise<boolean> {
    if ((await store.listMessages(runId)).length > 0) return true;
    return (await store.read(sessionId, position)).some((fact) => isInRun(fact, runId));
  }
  async function isOver(until: "rest" | "end"): Promise<boolean> {
    if (isTerminal(projection.state())) return true;
    return until === "rest" && waits() && !(await isAnswered());
  }
  /** It waits in what was read, and has been answered since. */
  let isWoken = waits() && (await isAnswered());

  return {
    task() {
      const task = projection.task();
      if (!isWoken) return task;
      return { ...task, status: { state: "TASK_STATE_WORKING", timestamp: task.status.timestamp } };
    },
    async *frames(until) {
      if (!isWoken && (await isOver(until))) return;
      const signal = AbortSignal.any([leaving, asking.signal]);
      for await (const event of subscribe(store, { runId, sessionId, after: position }, { signal })) {
        if (isFact(event)) position = event.seq;
        isWoken = false;
        const frames = projection.hear(event);
        const isEnd = frames.length > 0 && (await isOver(until));
        // Somebody who is told that input is required would go away, though it is on its way.
        if (isEnd || !waits() || until === "end") yield* frames;
        if (isEnd) return;
      }
    },
  };
}

/** A task, as these facts tell of it. */
export function folded(asking: A2aAsking, place: TaskPlace, facts: readonly Fact[]): TaskProjection {
  const { runId: taskId, sessionId: contextId } = place;
  const projection = taskProjection({ taskId, contextId }, (error) =>
    shownError(error, asking.caller, taskId),
  );
  for (const fact of facts) projection.hear(fact);
  return projection;
}
