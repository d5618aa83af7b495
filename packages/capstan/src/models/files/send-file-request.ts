import { systemClock } from "../../base/clock.ts";
import { AgentError } from "../../base/errors.ts";
import { createResponseError, toNetworkError } from "../http-failure.ts";
import type { FilesConnection } from "../http-model.ts";
import { createIdleTimer } from "../post.ts";
import { withAttempts } from "../with-attempts.ts";

export type FileRequest = {
  readonly method?: "GET" | "POST" | "DELETE";
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: FormData | string | Uint8Array<ArrayBuffer>;
  /** Default: the credentials of the client are sent. */
  readonly isPublic?: boolean;
  readonly signal: AbortSignal;
};

/** The slowest connection that an upload may have, in bytes per millisecond. */
const minRate = 50;

/** Sends one request. Rejects with the errors of a model call. */
export async function sendFileRequest(connection: FilesConnection, request: FileRequest): Promise<Response> {
  const { id, wire, fetch = globalThis.fetch, timeouts } = connection;
  const { method = "POST", url, body, signal } = request;
  const firstByteMs = (timeouts?.firstByteMs ?? 120_000) + getSize(body) / minRate;
  const timer = createIdleTimer(signal, { ...timeouts, firstByteMs }, connection.clock);
  try {
    const headers = { ...(request.isPublic ? {} : await connection.headers()), ...request.headers };
    const response = await fetch(url, {
      ...{ method, headers, redirect: "error", signal: timer.signal },
      ...(body !== undefined && { body }),
    });
    if (response.ok) return response;
    const header = (name: string) => response.headers.get(name) ?? undefined;
    const text = await response.text();
    const read = async (onBytes: (bytes: Uint8Array) => unknown) =>
      void onBytes(new TextEncoder().encode(text));
    throw await createResponseError({ status: response.status, header, read }, { wire, id, headers });
  } catch (thrown) {
    throw timer.getFailure() ?? (signal.aborted ? signal.reason : toNetworkError(thrown, id, url));
  } finally {
    timer.stop();
  }
}

function getSize(body: FileRequest["body"]): number {
  if (body instanceof FormData)
    return [...body.values()].reduce((sum, value) => sum + (typeof value === "string" ? 0 : value.size), 0);
  return body?.length ?? 0;
}

/** Repeats a request that failed for a reason that passes. */
export function repeatRequest<Value>(
  { clock = systemClock }: FilesConnection,
  signal: AbortSignal,
  send: () => Promise<Value>,
): Promise<Value> {
  return withAttempts(clock, signal, send);
}

/** Ignores that a file does not exist. */
export async function removeIfExists(removal: Promise<unknown>): Promise<void> {
  try {
    await removal;
  } catch (thrown) {
    if (!(thrown instanceof AgentError && thrown.code === "model_not_found")) throw thrown;
  }
}

/** Parses the description of an uploaded file. */
export async function readFileJson(response: Response, id: string): Promise<Record<string, unknown>> {
  const body: unknown = await response.json().catch(() => undefined);
  if (typeof body === "object" && body !== null) return body as Record<string, unknown>;
  throw new AgentError("bad_chunk", `${id} described the uploaded file in a form that is not JSON.`);
}
