import type { Event, Fact } from "../event.ts";
import type { Part } from "../history.ts";
import type { Json } from "../json.ts";
import type { PolicyOverrides } from "../policy.ts";
import type { PendingCall } from "../rules/pending-calls.ts";
import type { Result } from "../run/result.ts";
import type { RunInfo } from "../store.ts";
import type { Connection } from "./connection.ts";
import { type FollowOptions, followEvents } from "./follow-events.ts";
import { type RunRecords, runRecords } from "./run-records.ts";
import type { World } from "./world.ts";

/** What a run is asked for. */
export type RunRequest = {
  readonly input: string | readonly Part[];
  /** By name; the server's first one when left out. */
  readonly agent?: string;
  /** One of those that the server offers; the agent's own when left out. */
  readonly model?: string;
  /** The conversation it belongs to; a new one when left out. */
  readonly sessionId?: string;
  /** Stricter than the server's own. */
  readonly policy?: PolicyOverrides;
  /** In which the run tells dates, such as `Europe/Oslo`; that of this machine when left out. */
  readonly timeZone?: string;
  /** The same key starts one run, however often it is asked for; one of its own when left out. */
  readonly key?: string;
};

/** A run that has begun, and ends whether or not anybody listens. */
export type StartedRun = { readonly runId: string; readonly sessionId: string };

/** A run, the calls of it that only a person or a client can move, and, when it has ended or waits, what came of it. */
export type RunDetails = RunInfo & {
  readonly pending: readonly PendingCall[];
  readonly result?: Omit<Result, "orThrow">;
};

/** Settings of one who listens to a run. */
export type RunEventsOptions = FollowOptions & {
  /** Ends also when the run waits for an answer from outside. */
  readonly untilRest?: boolean;
};

/** What a person says to a call that waits for it. */
export type Approval = {
  /** Of what they were shown: when the call asks for something else, it is refused. */
  readonly digest?: string;
  /** The answer to the question of a tool. */
  readonly value?: Json;
};

type Abortable = { readonly signal?: AbortSignal };

/** The runs of a server. */
export interface RunsClient extends RunRecords {
  /** Starts a run; once, also when the answer is lost and the request is sent again. */
  start(request: RunRequest, options?: Abortable): Promise<StartedRun>;
  get(runId: string): Promise<RunDetails>;
  /** The newest first: of a session, or of the newest ones. */
  list(options?: { readonly sessionId?: string; readonly most?: number }): Promise<readonly RunInfo[]>;
  /** The events of a run, over lost connections and restarts of the server; ends after `done`. */
  events(runId: string, options?: RunEventsOptions): AsyncIterableIterator<Event, void, undefined>;
  /** What has been said is kept. */
  cancel(runId: string, reason?: string): Promise<void>;
  /** Says something to a run before its next turn. */
  steer(runId: string, text: string): Promise<void>;
  approve(runId: string, callId: string, approval?: Approval): Promise<void>;
  deny(runId: string, callId: string, reason?: string): Promise<void>;
  /** The result of a call that the client runs. */
  answer(runId: string, callId: string, value: Json): Promise<void>;
}

/** The runs of the server at the other end. */
export function runsClient(connection: Connection, world: World): RunsClient {
  const { ask } = connection;
  const pathOf = (runId: string) => `/api/runs/${encodeURIComponent(runId)}`;

  async function tell(path: string, body: object): Promise<void> {
    await ask({ method: "POST", path, body, key: world.newKey() });
  }
  const list: RunsClient["list"] = async (query = {}) =>
    (await ask<{ runs: readonly RunInfo[] }>({ method: "GET", path: "/api/runs", query })).runs;
  const get: RunsClient["get"] = (runId) => ask({ method: "GET", path: pathOf(runId) });

  async function isAtRest({ sessionId, runId }: Fact): Promise<boolean> {
    const run = (await list({ sessionId })).find((info) => info.runId === runId);
    return run?.state === "waiting";
  }

  return {
    ...runRecords(connection, world),
    start: ({ key = world.newKey(), timeZone = world.timeZone(), ...asked }, { signal } = {}) =>
      ask({ method: "POST", path: "/api/runs", body: { ...asked, timeZone }, key, signal }),
    get,
    list,
    events: (runId, { untilRest = false, ...options } = {}) =>
      followEvents(
        {
          path: `${pathOf(runId)}/events`,
          connection,
          world,
          isEnd(fact) {
            if (fact.runId !== runId) return false;
            // An old rest is over by now.
            return fact.type === "done" || (untilRest && fact.type === "waiting" && isAtRest(fact));
          },
          isOver: async () => (await get(runId)).state === "ended",
        },
        options,
      ),
    cancel: (runId, reason) => tell(`${pathOf(runId)}/cancel`, { ...(reason !== undefined && { reason }) }),
    steer: (runId, text) => tell(`${pathOf(runId)}/steer`, { text }),
    approve: (runId, callId, approval = {}) =>
      tell(`${pathOf(runId)}/approvals/${encodeURIComponent(callId)}`, { approved: true, ...approval }),
    deny: (runId, callId, reason) =>
      tell(`${pathOf(runId)}/approvals/${encodeURIComponent(callId)}`, {
        approved: false,
        ...(reason !== undefined && { reason }),
      }),
    answer: (runId, callId, value) =>
      tell(`${pathOf(runId)}/results/${encodeURIComponent(callId)}`, { value }),
  };
}
