import type { Fact } from "../event.ts";
import type { Store } from "../store.ts";
import { getRunState } from "./store-rules.ts";

/** Reports runs without a process to the engines of this process. */
export interface WorkWatchers extends Required<Pick<Store, "watchWork">> {
  notify(): void;
}

export function createWorkWatchers(): WorkWatchers {
  const listeners = new Set<() => void>();
  return {
    notify() {
      for (const listener of listeners) listener();
    },
    watchWork(onWork) {
      const listener = () => onWork(); // the same function may subscribe twice
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

type Writes = Pick<Store, "append" | "release" | "sendMessage">;

/** Calls `onWork` after a message, and after the release of a session whose run has not ended and does not wait. */
export function withWorkNotices({ append, release, sendMessage }: Writes, onWork: () => void): Writes {
  const unfinishedSessions = new Set<string>();
  return {
    async append(facts, at) {
      const appended = await append(facts, at);
      if (isUnfinished(appended)) unfinishedSessions.add(at.lease.sessionId);
      else unfinishedSessions.delete(at.lease.sessionId);
      return appended;
    },
    async release(lease) {
      await release(lease);
      if (unfinishedSessions.delete(lease.sessionId)) onWork();
    },
    async sendMessage(runId, message) {
      await sendMessage(runId, message);
      onWork();
    },
  };
}

function isUnfinished(facts: readonly Fact[]): boolean {
  const last = facts.findLast(({ parentRunId }) => parentRunId === undefined);
  return last === undefined || (last.type !== "waiting" && getRunState(last) === "active");
}
