import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";

/** Says that the stream of an answer ended before the answer was there. */
export const cutAnswerCode = -32_098;

/** Looks after the requests of one transport. */
export interface CutAnswers {
  /** To be told every message that comes in. */
  heard(message: JSONRPCMessage): void;
  /** To be told every problem of the transport. */
  failed(problem: Error): void;
}

/** The SDK lets a request wait for ever when its stream ends without an answer: here it gets an error for one. */
export function cutAnswers(transport: Transport): CutAnswers {
  const open = new Set<unknown>();
  let why = "";
  const send = transport.send.bind(transport);
  transport.send = (message, options) => {
    if (!("method" in message && "id" in message) || options?.onRequestStreamEnd)
      return send(message, options);
    const { id } = message;
    open.add(id);
    const onRequestStreamEnd = () => {
      if (!open.delete(id)) return;
      const error = { code: cutAnswerCode, message: `ended in the middle of an answer. ${why}`.trimEnd() };
      transport.onmessage?.({ jsonrpc: "2.0", id, error });
    };
    return send(message, { ...options, onRequestStreamEnd });
  };
  return {
    heard(message) {
      if ("id" in message && !("method" in message)) open.delete(message.id);
    },
    failed({ message }) {
      if (message.startsWith("SSE stream disconnected")) why = message;
    },
  };
}
