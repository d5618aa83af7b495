import { sleep } from "../clock.ts";
import { AgentError, type ErrorCode, errorCodes } from "../errors.ts";
import { isRecord } from "../json.ts";
import { inTime } from "./with-timeout.ts";
import type { World } from "./world.ts";

/** One thing to ask of a server. */
export type Asking = {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly body?: unknown;
  /** Sent as `Idempotency-Key`. */
  readonly key?: string;
  /** To ask it twice is the same as to ask it once: it is asked again when the answer was lost. */
  readonly isRepeatable?: boolean;
  /** Statuses that are no failure here. */
  readonly alsoAnswers?: readonly number[];
  readonly signal?: AbortSignal | undefined;
};

/** The way to one server. */
export interface Connection {
  /** The answer as JSON. Rejects with the `AgentError` that the server tells, or with `server_unreachable`. */
  ask<Answer>(asking: Asking): Promise<Answer>;
  /** The answer as a text. */
  read(asking: Asking): Promise<string>;
  /** The bytes of a stream of events behind a position. Tries once. */
  open(path: string, after: number, signal: AbortSignal): Promise<ReadableStream<Uint8Array>>;
}

export type ConnectionOptions = {
  readonly baseURL: string;
  readonly key: string | undefined;
  readonly world: World;
  readonly timeoutMs: number;
  readonly retries: number;
};

/** What came of one try. `status` is 0 when there was no answer. */
type Tried = { readonly text: string } | { readonly status: number; readonly error: AgentError };

const firstWaitMs = 250;
/** Who is to wait for longer is told, and decides. */
const longestWaitMs = 10_000;

/** To the server at an address. */
export function connection({ baseURL, key, world, timeoutMs, retries }: ConnectionOptions): Connection {
  const { clock, random } = world;
  const server = baseURL.replace(/\/+$/, "");
  const credentials: Record<string, string> = key === undefined ? {} : { authorization: `Bearer ${key}` };

  async function tried(asking: Asking): Promise<Tried> {
    const end = new AbortController();
    const { signal = never } = asking;
    const url = `${server}${asking.path}${queryOf(asking.query)}`;
    try {
      const work = whole(world.fetch(url, { ...requestOf(asking, credentials), signal: end.signal }));
      const { response, text } = await inTime(work, { clock, ms: timeoutMs, signal });
      if (response.ok || asking.alsoAnswers?.includes(response.status)) return { text };
      return { status: response.status, error: problemIn(text, response) };
    } catch (cause) {
      end.abort();
      if (signal.aborted) throw new AgentError("aborted", "The request was aborted.", { cause });
      return { status: 0, error: unreachable(server, cause) };
    }
  }

  async function answer(asking: Asking): Promise<string> {
    for (let failures = 0; ; failures++) {
      const outcome = await tried(asking);
      if ("text" in outcome) return outcome.text;
      const { status, error } = outcome;
      // What an earlier try of ours has removed is gone, as it should be.
      if (asking.method === "DELETE" && failures > 0 && status === 404) return "";
      const waitMs = error.retryAfterMs ?? firstWaitMs * 2 ** failures;
      if (failures >= retries || waitMs > longestWaitMs || !mayAskAgain(status, asking)) throw error;
      await sleep(clock, waitMs * (1 + random() / 2), asking.signal ?? never).catch((cause) => {
        throw new AgentError("aborted", "The request was aborted.", { cause });
      });
    }
  }

  return {
    async ask<Answer>(asking: Asking) {
      const text = await answer(asking);
      try {
        return (text === "" ? undefined : JSON.parse(text)) as Answer;
      } catch (cause) {
        const message = `The server at ${nameOf(server)} did not answer in JSON: is it a Capstan server?`;
        throw new AgentError("server_unreachable", message, { cause, retryable: false });
      }
    },
    read: answer,
    async open(path, after, signal) {
      const headers = { ...credentials, accept: "text/event-stream", ...lastEvent(after) };
      const response = await world
        .fetch(`${server}${path}`, { headers, signal, cache: "no-store" })
        .catch((cause) => Promise.reject(unreachable(server, cause)));
      if (!response.ok) throw problemIn(await response.text(), response);
      if (response.body && response.headers.get("content-type")?.startsWith("text/event-stream"))
        return response.body;
      const message = `The server at ${nameOf(server)} did not answer with events: is it a Capstan server?`;
      throw new AgentError("server_unreachable", message, { retryable: false });
    },
  };
}

const never: AbortSignal = new AbortController().signal;

async function whole(answered: Promise<Response>): Promise<{ response: Response; text: string }> {
  const response = await answered;
  return { response, text: await response.text() };
}

/** A refusal has done nothing. When the answer was lost, only what can be asked twice is. */
function mayAskAgain(status: number, { method, key, isRepeatable = method === "GET" }: Asking): boolean {
  if (status === 429 || status === 503) return true;
  const isLost = status === 0 || status === 502 || status === 504;
  return isLost && (isRepeatable || key !== undefined);
}

function requestOf({ method, body, key }: Asking, credentials: Record<string, string>): RequestInit {
  return {
    method,
    headers: {
      ...credentials,
      ...(body !== undefined && { "content-type": "application/json" }),
      ...(key !== undefined && { "idempotency-key": key }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  };
}

const lastEvent = (after: number): Record<string, string> =>
  after > 0 ? { "last-event-id": String(after) } : {};

function queryOf(query: Asking["query"] = {}): string {
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)]],
  );
  return given.length > 0 ? `?${new URLSearchParams(given)}` : "";
}

const nameOf = (server: string): string => (server === "" ? "this page's address" : server);

function unreachable(server: string, cause: unknown): AgentError {
  const message = `The server at ${nameOf(server)} cannot be reached: is it running, and is this its address?`;
  return new AgentError("server_unreachable", message, { cause });
}

/** The error that an answer tells; one that does not speak as our servers do is from something in between. */
function problemIn(body: string, { status, url, headers }: Response): AgentError {
  const told = errorIn(body);
  const seconds = Number(headers.get("retry-after") ?? Number.NaN);
  if (!told) {
    const message = `${url || "The server"} answered ${status}, and not as a Capstan server does.`;
    const retryable = status >= 500 || status === 429 || status === 408;
    return new AgentError("server_unreachable", message, { retryable, ...inMs(seconds * 1000) });
  }
  const { code, message, retryable, retryAfterMs, id } = told;
  const where = typeof id === "string" ? ` (${id})` : "";
  return new AgentError(code as ErrorCode, `${message}${where}`, {
    retryable: retryable === true,
    ...inMs(typeof retryAfterMs === "number" ? retryAfterMs : seconds * 1000),
  });
}

const inMs = (ms: number): { retryAfterMs?: number } => (Number.isFinite(ms) ? { retryAfterMs: ms } : {});

function errorIn(body: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(body);
    const error = isRecord(value) ? value.error : undefined;
    return isRecord(error) && Object.hasOwn(errorCodes, String(error.code)) ? error : undefined;
  } catch {
    return undefined; // a page of a proxy, say
  }
}
