import { type AgentError, describeThrown, type ErrorData } from "../errors.ts";
import { type Event, type Fact, isFact } from "../event.ts";
import type { ClientEnvironment } from "./environment.ts";
import type { ConnectionState } from "./follow-events.ts";
import { reduceAll } from "./reduce.ts";
import type { RunRequest, RunsClient } from "./runs-client.ts";
import { emptyView, type SessionView } from "./session-view.ts";
import type { SessionsClient } from "./sessions-client.ts";

/** Connection status of a watch. `ended`: closed, or failed and not reconnecting. */
export type WatchState = ConnectionState | { readonly type: "ended"; readonly error?: ErrorData };

/** A live view of a session for a user interface. */
export interface SessionWatch {
  /** Returns the same object until something changes. */
  readonly view: () => SessionView;
  /** The facts behind the view, in order. The list is mutated as it grows; compare `view().seq`. */
  readonly facts: () => readonly Fact[];
  readonly state: () => WatchState;
  /** Calls `listener` after changes, at most once per animation frame. */
  readonly subscribe: (listener: () => void) => () => void;
  /** Sends a message to the active run, or starts a run. */
  send(input: RunRequest["input"], options?: Omit<RunRequest, "input" | "sessionId">): Promise<void>;
  close(): void;
}

type WatchOptions = {
  readonly sessionId: string;
  readonly runs: RunsClient;
  readonly sessions: SessionsClient;
  readonly environment: ClientEnvironment;
};

export function watchSession({ sessionId, runs, sessions, environment }: WatchOptions): SessionWatch {
  const stop = new AbortController();
  const listeners = new Set<() => void>();
  const facts: Fact[] = [];
  let currentView = emptyView;
  let queuedEvents: Event[] = [];
  let state: WatchState = { type: "connecting" };
  let isScheduled = false;

  /** Applies all events received since the last call. */
  function view(): SessionView {
    if (queuedEvents.length > 0) currentView = reduceAll(currentView, queuedEvents);
    queuedEvents = [];
    return currentView;
  }
  function scheduleNotify(): void {
    if (isScheduled) return;
    isScheduled = true;
    environment.onNextFrame(() => {
      isScheduled = false;
      for (const listener of [...listeners]) listener();
    });
  }
  function onState(next: WatchState): void {
    state = next;
    scheduleNotify();
  }
  async function follow(): Promise<void> {
    try {
      for await (const event of sessions.events(sessionId, { signal: stop.signal, onState })) {
        queuedEvents.push(event);
        if (isFact(event)) facts.push(event);
        scheduleNotify();
      }
      onState({ type: "ended" });
    } catch (thrown) {
      onState({ type: "ended", error: describeThrown(thrown, "server_unreachable") });
    }
  }
  void follow();

  async function findActiveRun(isViewStale: boolean): Promise<string | undefined> {
    const { status, runId } = view();
    if ((status === "running" || status === "waiting") && runId !== undefined && !isViewStale) return runId;
    return (await runs.list({ sessionId })).find((run) => run.state !== "ended")?.runId;
  }

  return {
    view,
    facts: () => facts,
    state: () => state,
    subscribe(listener) {
      const notify = () => listener(); // lets the same function subscribe twice
      listeners.add(notify);
      return () => void listeners.delete(notify);
    },
    async send(input, options = {}) {
      // A run may start or end between the check and the send: then try the other way.
      for (let tries = 0; ; tries++) {
        const runId = typeof input === "string" ? await findActiveRun(tries > 0) : undefined;
        try {
          if (runId === undefined) await runs.start({ ...options, input, sessionId });
          else await runs.steer(runId, input as string);
          return;
        } catch (thrown) {
          const { code } = thrown as AgentError;
          const isStale = code === (runId === undefined ? "session_busy" : "run_ended");
          if (!isStale || typeof input !== "string" || tries >= 2) throw thrown;
        }
      }
    },
    close() {
      listeners.clear();
      stop.abort();
    },
  };
}
