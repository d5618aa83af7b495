import type { ErrorData } from "../base/errors.ts";
import type { Json } from "../base/json.ts";
import type { PendingCall } from "../features/calls/pending-calls.ts";
import type { Agent } from "../kernel/agent.ts";
import type { Event, Fact } from "../kernel/event.ts";
import type { Part } from "../kernel/history.ts";
import type { AgentCall, AgentOutput } from "../kernel/infer-agent.ts";
import type { PolicyOverrides } from "../kernel/policy.ts";
import type { ModelSettings } from "../kernel/settings/settings.ts";
import type { ListedRun } from "../runtime/queue.ts";
import type { ResultData } from "../runtime/result.ts";
import type { RunDelivery } from "../runtime/run-catalog.ts";
import type { RunInfo } from "../runtime/store.ts";
import type { Connection } from "./connection.ts";
import type { ClientEnvironment } from "./environment.ts";
import { type FollowViewOptions, followEvents, followView, type ViewEvent } from "./follow-events.ts";
import type { FollowOptions } from "./follow-stream.ts";
import { createRunRecords, type RunRecords } from "./run-records.ts";

/** Options of a new run. */
export type RunRequest<Name extends string = string> = {
  readonly input: string | readonly Part[];
  /**
   * `application` for a text that the user did not write, such as one that an embedded page proposed: it labels the
   * conversation and names no target. Default: the user's own words.
   */
  readonly provenance?: "application";
  /** Agent name. Defaults to the server's first agent. */
  readonly agent?: Name;
  /** One of the models that the server offers. Defaults to the agent's model. */
  readonly model?: string;
  /** Session of the run. Defaults to a new one. */
  readonly sessionId?: string;
  /** Must be stricter than the server's policy. */
  readonly policy?: PolicyOverrides;
  /** What to ask of the model; takes precedence over the agent's settings. Only admins may send `extra`. */
  readonly settings?: ModelSettings;
  /** Time zone for dates, such as `Europe/Oslo`. Defaults to this machine's. */
  readonly timeZone?: string;
  /** Words by which the run can be found in lists: at most 20, of at most 100 characters each. */
  readonly tags?: readonly string[];
  /** Idempotency key: the same key starts one run. Random by default. */
  readonly key?: string;
};

/** The id of a run. `~agent` is its agent, for types only: any string is an id. */
export type RunId<A extends Agent = Agent> = string & { readonly "~agent"?: A };

/** A started run. It continues whether or not a client listens. */
export type StartedRun<A extends Agent = Agent> = { readonly runId: RunId<A>; readonly sessionId: string };

/** A run with its pending calls and, once it waits or has ended, its result. */
export type RunDetails<A extends Agent = Agent> = ListedRun & {
  readonly pending: readonly PendingCall<AgentCall<A>>[];
  readonly result?: ResultData<AgentOutput<A>, AgentCall<A>>;
  /** Of a run that a webhook started: whether its result was delivered. */
  readonly delivery?: RunDelivery;
};

type AgentNamed<A extends Agent, Name extends string> = A extends unknown
  ? Name extends A["name"]
    ? A
    : never
  : never;

/** Options of `runs.events`. */
export type RunEventsOptions = FollowOptions & {
  /** Also ends when the run waits for an answer. */
  readonly untilRest?: boolean;
};

/** Approval of a pending call. */
export type Approval = {
  /** Digest of the arguments that the user saw. A call with other arguments is refused. */
  readonly digest?: string;
  /** Answer to a tool's question. */
  readonly value?: Json;
  /** Arguments to make the call with instead of the model's. They are reported to the model. Not together with `always`. */
  readonly input?: Json;
  /** Also allows later calls in this session, as `always` or `pattern` of the pending call says. */
  readonly always?: true | "pattern";
};

/** Options of `runs.list`. */
export type RunListOptions = { readonly sessionId?: string; readonly most?: number };

/** A run that cannot continue: its agent, tool or model does not exist, or its facts are newer than the server. */
export type StuckRun = RunInfo & { readonly reason: ErrorData };

type Abortable = { readonly signal?: AbortSignal };

/** Starts and controls the runs of a server. */
export interface RunsClient<A extends Agent = Agent> extends RunRecords {
  /** Starts a run exactly once, even if the request has to be sent again. */
  start<Name extends A["name"] = A["name"]>(
    request: RunRequest<Name>,
    options?: Abortable,
  ): Promise<StartedRun<AgentNamed<A, Name>>>;
  get<Started extends Agent = A>(runId: RunId<Started>): Promise<RunDetails<Started>>;
  /** Lists the runs of a session, also queued ones, or of all sessions, newest first. */
  list(options?: RunListOptions): Promise<readonly ListedRun[]>;
  /** Lists the runs that cannot continue, with the reason. */
  listStuck(options?: RunListOptions): Promise<readonly StuckRun[]>;
  /** Follows the events of a run across reconnects and server restarts. Ends after `done`. */
  events<Started extends Agent = A>(
    runId: RunId<Started>,
    options?: RunEventsOptions,
  ): AsyncIterableIterator<Event<AgentCall<Started>>, void, undefined>;
  /** Follows a view of the events, such as `chat`, across reconnects. `client.about()` lists the views of the server. */
  viewEvents(
    runId: string,
    view: string,
    options?: FollowViewOptions,
  ): AsyncIterableIterator<ViewEvent, void, undefined>;
  /** Cancels a run. Its output so far is kept. */
  cancel(runId: string, reason?: string): Promise<void>;
  /** Cancels the background run that a call of the run has started. The run itself continues. */
  cancelBackground(runId: string, callId: string, reason?: string): Promise<void>;
  /** Sends a message to a run before its next turn. */
  steer(runId: string, text: string): Promise<void>;
  approve(runId: string, callId: string, approval?: Approval): Promise<void>;
  deny(runId: string, callId: string, reason?: string): Promise<void>;
  /**
   * Continues a run that failed because of its model, was quarantined, or waits for its provider. Finished calls are not
   * repeated. Rejects with `not_retryable` for any other run.
   */
  retry(runId: string): Promise<void>;
  /** Answers a call that the client executes. */
  answer(runId: string, callId: string, value: Json): Promise<void>;
}

export function createRunsClient(connection: Connection, environment: ClientEnvironment): RunsClient {
  const { request } = connection;
  const getRunPath = (runId: string) => `/api/runs/${encodeURIComponent(runId)}`;

  async function post(path: string, body: object): Promise<void> {
    await request({ method: "POST", path, body, key: environment.createKey() });
  }
  const requestList = async <Info>(query: object): Promise<readonly Info[]> =>
    (await request<{ runs: readonly Info[] }>({ method: "GET", path: "/api/runs", query: { ...query } }))
      .runs;
  const list: RunsClient["list"] = (options = {}) => requestList(options);
  const get: RunsClient["get"] = (runId) => request({ method: "GET", path: getRunPath(runId) });

  const hasEnded = async (runId: string): Promise<boolean> => (await get(runId)).state === "ended";

  /** Whether this is the newest fact of its run. A run that waited or failed may have continued since. */
  async function isLastOfRun({ type, sessionId, runId, at }: Fact): Promise<boolean> {
    const run = (await list({ sessionId })).find((info) => info.runId === runId);
    return run?.state === (type === "done" ? "ended" : "waiting") && run.updatedAt === at;
  }

  return {
    ...createRunRecords(connection, environment),
    start: (
      { key = environment.createKey(), timeZone = environment.getTimeZone(), ...body },
      { signal } = {},
    ) => request({ method: "POST", path: "/api/runs", body: { ...body, timeZone }, key, signal }),
    get,
    list,
    listStuck: (options = {}) => requestList({ ...options, state: "stuck" }),
    events: (runId, { untilRest = false, ...options } = {}) =>
      followEvents(
        {
          path: `${getRunPath(runId)}/events`,
          connection,
          environment,
          isLastFact(fact) {
            if (fact.runId !== runId) return false;
            if (fact.type === "done") return !fact.canRetry || isLastOfRun(fact);
            return untilRest && fact.type === "waiting" && fact.until === undefined && isLastOfRun(fact);
          },
          hasEnded: () => hasEnded(runId),
        },
        options,
      ),
    viewEvents: (runId, view, options = {}) =>
      followView(
        {
          path: `${getRunPath(runId)}/events`,
          connection,
          environment,
          hasEnded: () => hasEnded(runId),
        },
        view,
        options,
      ),
    cancel: (runId, reason) =>
      post(`${getRunPath(runId)}/cancel`, { ...(reason !== undefined && { reason }) }),
    cancelBackground: (runId, callId, reason) =>
      post(`${getRunPath(runId)}/background/${encodeURIComponent(callId)}/cancel`, {
        ...(reason !== undefined && { reason }),
      }),
    steer: (runId, text) => post(`${getRunPath(runId)}/steer`, { text }),
    retry: (runId) => post(`${getRunPath(runId)}/retry`, {}),
    approve: (runId, callId, approval = {}) =>
      post(`${getRunPath(runId)}/approvals/${encodeURIComponent(callId)}`, { approved: true, ...approval }),
    deny: (runId, callId, reason) =>
      post(`${getRunPath(runId)}/approvals/${encodeURIComponent(callId)}`, {
        approved: false,
        ...(reason !== undefined && { reason }),
      }),
    answer: (runId, callId, value) =>
      post(`${getRunPath(runId)}/results/${encodeURIComponent(callId)}`, { value }),
  };
}
