import { type AgentError, describeThrown, type ErrorData } from "../errors.ts";
import { type Event, type Fact, isFact } from "../event.ts";
import type { ConnectionState } from "./follow-events.ts";
import { reduceAll } from "./reduce.ts";
import type { RunRequest, RunsClient } from "./runs-client.ts";
import { emptyView, type SessionView } from "./session-view.ts";
import type { SessionsClient } from "./sessions-client.ts";
import type { World } from "./world.ts";

/** How a watch stands with the server; `ended`: it was closed, or will not come back by itself. */
export type WatchState = ConnectionState | { readonly type: "ended"; readonly error?: ErrorData };

/** A session as it is at this moment, for a user interface. */
export interface SessionWatch {
  /** The same object until something has changed. */
  readonly view: () => SessionView;
  /** The stored events behind the view, in order. The list grows: `view().seq` says when. */
  readonly facts: () => readonly Fact[];
  readonly state: () => WatchState;
  /** Calls `listener` after changes, at most once for each picture that is drawn. */
  readonly subscribe: (listener: () => void) => () => void;
  /** Says something: to the run that is on, otherwise by starting one. */
  send(input: RunRequest["input"], options?: Omit<RunRequest, "input" | "sessionId">): Promise<void>;
  close(): void;
}

type Watched = {
  readonly sessionId: string;
  readonly runs: RunsClient;
  readonly sessions: SessionsClient;
  readonly world: World;
};

/** Follows a session until it is closed. */
export function watchSession({ sessionId, runs, sessions, world }: Watched): SessionWatch {
  const stop = new AbortController();
  const listeners = new Set<() => void>();
  const facts: Fact[] = [];
  let folded = emptyView;
  let unfolded: Event[] = [];
  let state: WatchState = { type: "connecting" };
  let isDue = false;

  /** Folds what has come since it was asked for last, all at once. */
  function view(): SessionView {
    if (unfolded.length > 0) folded = reduceAll(folded, unfolded);
    unfolded = [];
    return folded;
  }
  function changed(): void {
    if (isDue) return;
    isDue = true;
    world.nextFrame(() => {
      isDue = false;
      for (const listener of [...listeners]) listener();
    });
  }
  function onState(next: WatchState): void {
    state = next;
    changed();
  }
  async function follow(): Promise<void> {
    try {
      for await (const event of sessions.events(sessionId, { signal: stop.signal, onState })) {
        unfolded.push(event);
        if (isFact(event)) facts.push(event);
        changed();
      }
      onState({ type: "ended" });
    } catch (thrown) {
      onState({ type: "ended", error: describeThrown(thrown, "server_unreachable") });
    }
  }
  void follow();

  async function runThatIsOn(isViewLate: boolean): Promise<string | undefined> {
    const { status, runId } = view();
    if ((status === "running" || status === "waiting") && runId !== undefined && !isViewLate) return runId;
    return (await runs.list({ sessionId })).find((run) => run.state !== "ended")?.runId;
  }

  return {
    view,
    facts: () => facts,
    state: () => state,
    subscribe(listener) {
      const own = () => listener(); // the same function may subscribe twice
      listeners.add(own);
      return () => void listeners.delete(own);
    },
    async send(input, options = {}) {
      // Between a look and a word a run may begin or end: then it is the other way round.
      for (let tries = 0; ; tries++) {
        const runId = typeof input === "string" ? await runThatIsOn(tries > 0) : undefined;
        try {
          if (runId === undefined) await runs.start({ ...options, input, sessionId });
          else await runs.steer(runId, input as string);
          return;
        } catch (thrown) {
          const { code } = thrown as AgentError;
          const isLate = code === (runId === undefined ? "session_busy" : "run_ended");
          if (!isLate || typeof input !== "string" || tries >= 2) throw thrown;
        }
      }
    },
    close() {
      listeners.clear();
      stop.abort();
    },
  };
}
