import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";

/** The response stream ended before the response was complete. */
export const streamEndedCode = -32_098;

/** Tracks the pending requests of one transport. */
export interface RequestTracker {
  /** Must be called for every incoming message. */
  onMessage(message: JSONRPCMessage): void;
  /** Must be called for every transport error. */
  onError(problem: Error): void;
}

/** The SDK waits forever when a stream ends without a response: this fails the request instead. */
export function trackRequests(transport: Transport): RequestTracker {
  const pendingIds = new Set<unknown>();
  let reason = "";
  const send = transport.send.bind(transport);
  transport.send = (message, options) => {
    if (!("method" in message && "id" in message) || options?.onRequestStreamEnd)
      return send(message, options);
    const { id } = message;
    pendingIds.add(id);
    const onRequestStreamEnd = () => {
      if (!pendingIds.delete(id)) return;
      const error = {
        code: streamEndedCode,
        message: `closed the stream before the response was complete. ${reason}`.trimEnd(),
      };
      transport.onmessage?.({ jsonrpc: "2.0", id, error });
    };
    return send(message, { ...options, onRequestStreamEnd });
  };
  return {
    onMessage(message) {
      if ("id" in message && !("method" in message)) pendingIds.delete(message.id);
    },
    onError({ message }) {
      if (message.startsWith("SSE stream disconnected")) reason = message;
    },
  };
}
