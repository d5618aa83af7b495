import { AgentError } from "capstan";

const maxMessageBytes = 10 * 1024 * 1024;

/** Wraps `fetch` to bound memory: a JSON response, or one event of a stream, has at most 10 MiB. */
export function withSizeLimit(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    if (!response.body) return response;
    const isStream = response.headers.get("content-type")?.includes("text/event-stream") ?? false;
    const body = response.body.pipeThrough(
      createLimitStream(isStream ? measureLargestEvent() : countAllBytes()),
    );
    const { status, statusText, headers } = response;
    const capped = new Response(body, { status, statusText, headers });
    // The constructor cannot set the URL, and redirects are checked by it.
    Object.defineProperty(capped, "url", { value: response.url });
    return capped;
  };
}

type Measure = (chunk: Uint8Array) => number;

function createLimitStream(measure: Measure): TransformStream<Uint8Array, Uint8Array> {
  return new TransformStream({
    transform(chunk, controller) {
      if (measure(chunk) > maxMessageBytes)
        controller.error(
          new AgentError("mcp_protocol", `A message is larger than ${maxMessageBytes} bytes.`),
        );
      else controller.enqueue(chunk);
    },
  });
}

function countAllBytes(): Measure {
  let bytes = 0;
  return (chunk) => {
    bytes += chunk.byteLength;
    return bytes;
  };
}

/** An empty line ends an event. Lines end with CR, LF or both, and chunks can split anywhere. */
function measureLargestEvent(): Measure {
  let bytes = 0;
  let isLineEmpty = true;
  let last = 0;
  return (chunk) => {
    let largest = bytes;
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at] ?? 0;
      bytes += 1;
      if (bytes > largest) largest = bytes;
      const isEnd = byte === 13 || (byte === 10 && last !== 13);
      if (isEnd && isLineEmpty) bytes = 0;
      if (isEnd) isLineEmpty = true;
      else if (byte !== 10) isLineEmpty = false;
      last = byte;
    }
    return largest;
  };
}
