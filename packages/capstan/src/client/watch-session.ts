import { describeThrown, type ErrorData } from "../base/errors.ts";
import { type Event, type Fact, isFact } from "../kernel/event.ts";
import type { ClientEnvironment } from "./environment.ts";
import type { ConnectionState } from "./follow-stream.ts";
import { buildView, reduceAll } from "./reduce.ts";
import type { RunRequest, RunsClient } from "./runs-client.ts";
import { emptyView, type SessionView } from "./session-view.ts";
import type { SessionsClient } from "./sessions-client.ts";

/** Connection status of a watch. `ended`: closed, or failed and not reconnecting. */
export type WatchState = ConnectionState | { readonly type: "ended"; readonly error?: ErrorData };

/** A live view of a session for a user interface. */
export interface SessionWatch {
  /** Returns the same object until something changes. */
  readonly view: () => SessionView;
  /**
   * The facts behind the view, in order. The list is mutated as it grows; compare `view().seq`. `loadEarlier` creates a
   * new list.
   */
  readonly facts: () => readonly Fact[];
  /** Whether the session has facts before the first one in the list. */
  readonly hasEarlier: () => boolean;
  /** Adds a page of earlier facts to the view. */
  loadEarlier(): Promise<void>;
  readonly state: () => WatchState;
  /** Calls `listener` after changes, at most once per animation frame. */
  readonly subscribe: (listener: () => void) => () => void;
  /**
   * Sends a message: it starts a run. If the session is busy, the policy `onBusy` applies, by default the run starts when
   * those before it have ended. A paused run continues with the message.
   */
  send(input: RunRequest["input"], options?: Omit<RunRequest, "input" | "sessionId">): Promise<void>;
  close(): void;
}

export type WatchOptions = {
  /**
   * Shows only the last facts of the session at first, at most 1,000, and as many more with each `loadEarlier`. The view
   * then counts only the runs and the usage of these facts. Default: all facts.
   */
  readonly tail?: number;
};

type WatchSessionOptions = WatchOptions & {
  readonly sessionId: string;
  readonly runs: RunsClient;
  readonly sessions: SessionsClient;
  readonly environment: ClientEnvironment;
};

export function watchSession(options: WatchSessionOptions): SessionWatch {
  const { sessionId, sessions, environment, tail } = options;
  const stop = new AbortController();
  const listeners = new Set<() => void>();
  let facts: Fact[] = [];
  /** Position of the first loaded fact, if there are earlier ones. */
  let previous: number | undefined;
  let loading: Promise<void> | undefined;
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
  /** Puts a page before the loaded facts. */
  async function loadPage(before?: number): Promise<void> {
    const page = await sessions.page(sessionId, { before, limit: tail });
    const { live } = view();
    facts = [...page.facts, ...facts];
    previous = page.previous;
    currentView = { ...buildView(page.start ? [page.start, ...facts] : facts), live };
    scheduleNotify();
  }
  async function follow(): Promise<void> {
    try {
      // If the page cannot be loaded, the stream reports the problem, or all facts come with the stream.
      if (tail !== undefined) await loadPage().catch(() => undefined);
      const after = facts.at(-1)?.seq ?? 0;
      for await (const event of sessions.events(sessionId, { signal: stop.signal, onState, after })) {
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

  return {
    view,
    facts: () => facts,
    hasEarlier: () => previous !== undefined,
    loadEarlier() {
      if (previous === undefined) return Promise.resolve();
      loading ??= loadPage(previous).finally(() => {
        loading = undefined;
      });
      return loading;
    },
    state: () => state,
    subscribe(listener) {
      const notify = () => listener(); // lets the same function subscribe twice
      listeners.add(notify);
      return () => void listeners.delete(notify);
    },
    send: createSend(options, view),
    close() {
      listeners.clear();
      stop.abort();
    },
  };
}

/** Creates the function that sends a message. A paused run has nothing else that would continue it. */
function createSend(
  { runs, sessionId }: Pick<WatchSessionOptions, "runs" | "sessionId">,
  view: () => SessionView,
): SessionWatch["send"] {
  return async (input, options = {}) => {
    const { runId } = view();
    // A steering message is the user's own.
    const canSteer = typeof input === "string" && options.provenance === undefined;
    if (canSteer && runId !== undefined && isPaused(view())) await runs.steer(runId, input);
    else await runs.start({ ...options, input, sessionId });
  };
}

/** Whether the run waits neither for an answer nor for a point in time, such as a run that a fork has cut off. */
function isPaused({ status, runId = "", pending, runs }: SessionView): boolean {
  return status === "waiting" && pending.length === 0 && runs.get(runId)?.resumesAt === undefined;
}
