import type { Fact } from "../kernel/event.ts";
import type { PositionedDelta, Store, StoreNotice } from "../runtime/store.ts";
import { createDeltaBuffer, type DeltaBuffer } from "./delta-buffer.ts";
import { getRunState } from "./store-rules.ts";

/** Watchers of sessions in this process. A watcher that subscribes within a message receives its deltas so far. */
export interface Watchers extends Pick<Store, "publish" | "watch"> {
  notify(sessionId: string, notice: Exclude<StoreNotice, { type: "deltas" }>): void;
  /** Passes on a notice of another process. */
  notifyRemote(sessionId: string, notice: StoreNotice): void;
  /** Reports a change whose notice was lost. Deltas of other processes may be missing too. */
  notifyMissed(sessionId: string, notice: StoreNotice): void;
  /** Called when another process will send its deltas from the last fact on. */
  expectRemote(sessionId: string): void;
  /** Called when deltas of other processes may have been missed. */
  resetRemote(sessionId: string): void;
  /** Returns the deltas since the last fact, joined per text. */
  listDeltas(sessionId: string): readonly PositionedDelta[];
  /** Called when a session is deleted. */
  delete(sessionId: string): void;
  isWatched(sessionId: string): boolean;
}

export function createWatchers(): Watchers {
  const listeners = new Map<string, Set<(notice: StoreNotice) => void>>();
  /** Created with the first delta: a store of one process publishes none. */
  let deltaBuffer: DeltaBuffer | undefined;

  function openBuffer(): DeltaBuffer {
    deltaBuffer ??= createDeltaBuffer();
    return deltaBuffer;
  }

  function notifyAll(sessionId: string, notice: StoreNotice): void {
    for (const listener of listeners.get(sessionId) ?? []) notifyListener(listener, notice);
  }

  return {
    notify(sessionId, notice) {
      if (notice.type === "facts") deltaBuffer?.clear(sessionId);
      notifyAll(sessionId, notice);
    },
    notifyRemote(sessionId, notice) {
      if (notice.type === "facts") openBuffer().expectRemote(sessionId);
      if (notice.type === "deltas") openBuffer().addRemote(sessionId, notice.deltas);
      notifyAll(sessionId, notice);
    },
    notifyMissed(sessionId, notice) {
      deltaBuffer?.deleteRemote(sessionId);
      notifyAll(sessionId, notice);
    },
    expectRemote: (sessionId) => openBuffer().expectRemote(sessionId),
    resetRemote: (sessionId) => deltaBuffer?.deleteRemote(sessionId),
    listDeltas: (sessionId) => deltaBuffer?.list(sessionId) ?? [],
    delete: (sessionId) => deltaBuffer?.delete(sessionId),
    isWatched: (sessionId) => listeners.has(sessionId),
    publish(sessionId, deltas) {
      if (deltas.length === 0) return;
      openBuffer().add(sessionId, deltas);
      if (listeners.has(sessionId)) notifyAll(sessionId, { type: "deltas", deltas });
    },
    watch(sessionId, listener) {
      const wrapped = (notice: StoreNotice) => listener(notice); // the same function may subscribe twice
      const deltas = deltaBuffer?.list(sessionId) ?? [];
      const sessionListeners = listeners.get(sessionId) ?? new Set();
      listeners.set(sessionId, sessionListeners.add(wrapped));
      if (deltas.length > 0) notifyListener(wrapped, { type: "deltas", deltas });
      return () => {
        sessionListeners.delete(wrapped);
        if (sessionListeners.size === 0 && listeners.get(sessionId) === sessionListeners)
          listeners.delete(sessionId);
      };
    },
  };
}

/** A failing listener must not affect the writer. */
function notifyListener(listener: (notice: StoreNotice) => void, notice: StoreNotice): void {
  try {
    listener(notice);
  } catch {
    // Ignored: the listener is responsible for its own errors.
  }
}

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
    append: (facts, at) =>
      append(facts, at).then((appended) => {
        if (isUnfinished(appended)) unfinishedSessions.add(at.lease.sessionId);
        else unfinishedSessions.delete(at.lease.sessionId);
        return appended;
      }),
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
