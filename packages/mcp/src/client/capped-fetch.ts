import { AgentError } from "capstan";

const mostBytes = 10 * 1024 * 1024;

/** A fetch whose answers cannot fill the memory: a JSON answer, or one event of a stream, has at most 10 MiB. */
export function cappedFetch(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    if (!response.body) return response;
    const isStream = response.headers.get("content-type")?.includes("text/event-stream") ?? false;
    const body = response.body.pipeThrough(cap(isStream));
    const { status, statusText, headers } = response;
    const capped = new Response(body, { status, statusText, headers });
    // The constructor cannot set it, and redirects are judged by it.
    Object.defineProperty(capped, "url", { value: response.url });
    return capped;
  };
}

/** Counts from the last empty line on when that ends an event. */
function cap(isStream: boolean): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  return new TransformStream({
    transform(chunk, controller) {
      const lastEvent = isStream
        ? Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength).lastIndexOf("\n\n")
        : -1;
      bytes = lastEvent === -1 ? bytes + chunk.byteLength : chunk.byteLength - lastEvent;
      if (bytes > mostBytes)
        controller.error(new AgentError("mcp_protocol", `A message is larger than ${mostBytes} bytes.`));
      else controller.enqueue(chunk);
    },
  });
}
