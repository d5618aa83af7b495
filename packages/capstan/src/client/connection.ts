import { sleep } from "../base/clock.ts";
import { AgentError, type ErrorCode, errorCodes } from "../base/errors.ts";
import { isRecord } from "../base/json.ts";
import type { ClientOptions } from "./create-client.ts";
import type { ClientEnvironment } from "./environment.ts";
import { withTimeout } from "./with-timeout.ts";

/** A request to a Capstan server. */
export type ApiRequest = {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly body?: unknown;
  /** Sent as they are, instead of a JSON body. */
  readonly bytes?: Blob | Uint8Array;
  /** Sent as `Idempotency-Key`. */
  readonly key?: string;
  /** Safe to send again when the response is lost. */
  readonly isIdempotent?: boolean;
  /** Error statuses whose body counts as a regular response. */
  readonly acceptedStatuses?: readonly number[];
  readonly signal?: AbortSignal | undefined;
  /** Of one attempt, instead of the client's. */
  readonly timeoutMs?: number;
};

/** A connection to one server. */
export interface Connection {
  /** Returns the JSON response. Rejects with the server's `AgentError` or with `server_unreachable`. */
  request<Answer>(request: ApiRequest): Promise<Answer>;
  /** Returns the response as text. */
  requestText(request: ApiRequest): Promise<string>;
  /** Opens the event stream after the event with this id. Does not retry. */
  openEventStream(
    path: string,
    lastId: string | undefined,
    signal: AbortSignal,
  ): Promise<ReadableStream<Uint8Array>>;
}

export type ConnectionOptions = Pick<ClientOptions, "baseURL" | "key" | "timeoutMs" | "retries">;

/** Outcome of one attempt. `status` is 0 when there was no response. */
type AttemptResult = { readonly text: string } | { readonly status: number; readonly error: AgentError };

const firstWaitMs = 250;
/** Longer waits are left to the caller. */
const maxWaitMs = 10_000;

export function createConnection(
  { baseURL = "", key, timeoutMs = 30_000, retries = 4 }: ConnectionOptions,
  environment: ClientEnvironment,
): Connection {
  const { clock, random } = environment;
  const server = baseURL.replace(/\/+$/, "");
  const credentials: Record<string, string> = key === undefined ? {} : { authorization: `Bearer ${key}` };

  async function attemptRequest(request: ApiRequest): Promise<AttemptResult> {
    const abortController = new AbortController();
    const { signal = neverSignal } = request;
    const url = `${server}${request.path}${formatQuery(request.query)}`;
    try {
      const work = readResponse(
        environment.fetch(url, { ...buildRequestInit(request, credentials), signal: abortController.signal }),
      );
      const { response, text } = await withTimeout(work, {
        ...{ clock, signal },
        ms: request.timeoutMs ?? timeoutMs,
      });
      if (response.ok || request.acceptedStatuses?.includes(response.status)) return { text };
      return { status: response.status, error: parseErrorResponse(text, response) };
    } catch (cause) {
      abortController.abort();
      if (signal.aborted) throw new AgentError("aborted", "The request was aborted.", { cause });
      return { status: 0, error: createUnreachableError(server, cause) };
    }
  }

  async function requestWithRetry(request: ApiRequest): Promise<string> {
    for (let failures = 0; ; failures++) {
      const outcome = await attemptRequest(request);
      if ("text" in outcome) return outcome.text;
      const { status, error } = outcome;
      // An earlier attempt whose response was lost has already deleted it.
      if (request.method === "DELETE" && failures > 0 && status === 404) return "";
      const waitMs = error.retryAfterMs ?? firstWaitMs * 2 ** failures;
      if (failures >= retries || waitMs > maxWaitMs || !canRetry(status, request)) throw error;
      await sleep(clock, waitMs * (1 + random() / 2), request.signal ?? neverSignal).catch((cause) => {
        throw new AgentError("aborted", "The request was aborted.", { cause });
      });
    }
  }

  return {
    async request<Answer>(request: ApiRequest) {
      const text = await requestWithRetry(request);
      try {
        return (text === "" ? undefined : JSON.parse(text)) as Answer;
      } catch (cause) {
        const message = `The server at ${formatServerName(server)} did not respond with JSON. Check that it is a Capstan server.`;
        throw new AgentError("server_unreachable", message, { cause, retryable: false });
      }
    },
    requestText: requestWithRetry,
    async openEventStream(path, lastId, signal) {
      const position: Record<string, string> = lastId === undefined ? {} : { "last-event-id": lastId };
      const headers = { ...credentials, accept: "text/event-stream", ...position };
      const response = await environment
        .fetch(`${server}${path}`, { headers, signal, cache: "no-store" })
        .catch((cause) => Promise.reject(createUnreachableError(server, cause)));
      if (!response.ok) throw parseErrorResponse(await response.text(), response);
      if (response.body && response.headers.get("content-type")?.startsWith("text/event-stream"))
        return response.body;
      const message = `The server at ${formatServerName(server)} did not respond with an event stream. Check that it is a Capstan server.`;
      throw new AgentError("server_unreachable", message, { retryable: false });
    },
  };
}

const neverSignal: AbortSignal = new AbortController().signal;

async function readResponse(
  pendingResponse: Promise<Response>,
): Promise<{ response: Response; text: string }> {
  const response = await pendingResponse;
  return { response, text: await response.text() };
}

/** A refused request had no effect. After a lost response, only idempotent requests are sent again. */
function canRetry(status: number, { method, key, isIdempotent = method === "GET" }: ApiRequest): boolean {
  if (status === 429 || status === 503) return true;
  const isLost = status === 0 || status === 502 || status === 504;
  return isLost && (isIdempotent || key !== undefined);
}

function buildRequestInit(
  { method, body, bytes, key }: ApiRequest,
  credentials: Record<string, string>,
): RequestInit {
  return {
    method,
    headers: {
      ...credentials,
      ...(body !== undefined && { "content-type": "application/json" }),
      ...(bytes && { "content-type": "application/octet-stream" }),
      ...(key !== undefined && { "idempotency-key": key }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(bytes && { body: bytes as BodyInit }),
  };
}

function formatQuery(query: ApiRequest["query"] = {}): string {
  const entries = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)]],
  );
  return entries.length > 0 ? `?${new URLSearchParams(entries)}` : "";
}

const formatServerName = (server: string): string => (server === "" ? "this page's origin" : server);

function createUnreachableError(server: string, cause: unknown): AgentError {
  const message = `The server at ${formatServerName(server)} cannot be reached. Check that it is running and that the address is correct.`;
  return new AgentError("server_unreachable", message, { cause });
}

/** Returns the server's error. A body in another format comes from a proxy in between. */
function parseErrorResponse(body: string, { status, url, headers }: Response): AgentError {
  const errorData = parseErrorBody(body);
  const seconds = Number(headers.get("retry-after") ?? Number.NaN);
  if (!errorData) {
    const message = `${url || "The server"} answered ${status} with an unexpected body. Check that it is a Capstan server.`;
    const retryable = status >= 500 || status === 429 || status === 408;
    return new AgentError("server_unreachable", message, { retryable, ...toRetryAfter(seconds * 1000) });
  }
  const { code, message, retryable, retryAfterMs, id } = errorData;
  const where = typeof id === "string" ? ` (${id})` : "";
  return new AgentError(code as ErrorCode, `${message}${where}`, {
    retryable: retryable === true,
    ...toRetryAfter(typeof retryAfterMs === "number" ? retryAfterMs : seconds * 1000),
  });
}

const toRetryAfter = (ms: number): { retryAfterMs?: number } =>
  Number.isFinite(ms) ? { retryAfterMs: ms } : {};

function parseErrorBody(body: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(body);
    const error = isRecord(value) ? value.error : undefined;
    return isRecord(error) && Object.hasOwn(errorCodes, String(error.code)) ? error : undefined;
  } catch {
    return undefined; // for example, a proxy's HTML page
  }
}
