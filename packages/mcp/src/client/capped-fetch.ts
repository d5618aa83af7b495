import { AgentError } from "capstan";

const mostBytes = 10 * 1024 * 1024;

/** A fetch whose answers cannot fill the memory: a JSON answer, or one event of a stream, has at most 10 MiB. */
export function cappedFetch(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    if (!response.body) return response;
    const isStream = response.headers.get("content-type")?.includes("text/event-stream") ?? false;
    const body = response.body.pipeThrough(cap(isStream ? largestEvent() : allBytes()));
    const { status, statusText, headers } = response;
    const capped = new Response(body, { status, statusText, headers });
    // The constructor cannot set it, and redirects are judged by it.
    Object.defineProperty(capped, "url", { value: response.url });
    return capped;
  };
}

type Measure = (chunk: Uint8Array) => number;

function cap(measure: Measure): TransformStream<Uint8Array, Uint8Array> {
  return new TransformStream({
    transform(chunk, controller) {
      if (measure(chunk) > mostBytes)
        controller.error(new AgentError("mcp_protocol", `A message is larger than ${mostBytes} bytes.`));
      else controller.enqueue(chunk);
    },
  });
}

function allBytes(): Measure {
  let bytes = 0;
  return (chunk) => {
    bytes += chunk.byteLength;
    return bytes;
  };
}

/** An empty line ends an event. Lines end with CR, LF or both, and the network cuts anywhere. */
function largestEvent(): Measure {
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
