import { AsyncLocalStorage } from "node:async_hooks";
import type { Fetch } from "../http/security-headers.ts";

/** One handled request. Has no content: no path, query, header, body, prompt or tool argument. */
export type RequestLogEntry = {
  /** Arrival, in ISO 8601. */
  readonly time: string;
  /** `OTHER` for a method that no route has. */
  readonly method: string;
  /** Pattern of the route, such as `/api/runs/{runId}`. Undefined for pages of the studio and unknown paths. */
  readonly route?: string;
  readonly status: number;
  /** Until the last byte of the response was read or the client disconnected; a stream is logged when it ends. */
  readonly ms: number;
  /** Empty for the local user, undefined if the request was not authenticated. */
  readonly user?: string;
  /** The run that the request addressed or started. */
  readonly runId?: string;
};

type RequestDetails = { route?: string; user?: string; runId?: string };
type NewDetails = { readonly [Name in keyof RequestDetails]: RequestDetails[Name] | undefined };

/** Collects what is known about a request while it is handled. */
export interface RequestLog {
  /** Calls `onRequest` once for each request that `handle` answers. */
  wrap(handle: Fetch): Fetch;
  /** Adds details to the current request. Of several runs, the first one counts. */
  note(details: NewDetails): void;
}

const methods = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

export function createRequestLog(
  onRequest: (entry: RequestLogEntry) => void,
  report: (thrown: unknown) => void,
): RequestLog {
  // Runs start in the context of their request, so their first event identifies them, whatever the protocol.
  const current = new AsyncLocalStorage<RequestDetails>();
  return {
    note({ route, user, runId }) {
      const known = current.getStore();
      if (!known) return;
      if (route !== undefined) known.route = route;
      if (user !== undefined) known.user = user;
      if (runId !== undefined) known.runId ??= runId;
    },
    wrap: (handle) => async (request, arrivedAt) => {
      const time = new Date().toISOString();
      const start = performance.now();
      const details: RequestDetails = {};
      const response = await current.run(details, () => handle(request, arrivedAt));
      // A repeated request has started no run, and a queued run starts later.
      const runId = response.headers.get("x-run-id");
      if (runId !== null) details.runId ??= runId;
      return watchBodyEnd(response, () => {
        const method = methods.has(request.method) ? request.method : "OTHER";
        const ms = Math.round(performance.now() - start);
        try {
          onRequest({ time, method, ...details, status: response.status, ms });
        } catch (thrown) {
          report(thrown); // a failing logger must not change the response
        }
      });
    },
  };
}

/** Returns the response, and calls `listener` once when its body has been read, has failed or was cancelled. */
function watchBodyEnd(response: Response, listener: () => void): Response {
  if (!response.body) {
    listener();
    return response;
  }
  const reader = response.body.getReader();
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          if (!done) return controller.enqueue(value);
          controller.close();
        } catch (thrown) {
          controller.error(thrown);
        }
        listener();
      },
      cancel(reason) {
        listener();
        return reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
  return new Response(body, response);
}
