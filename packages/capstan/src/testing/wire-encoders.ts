import type { Json } from "../base/json.ts";
import type { StopReason } from "../kernel/model.ts";

/** A provider's answer, independent of the wire. `arguments` is text so that it can be truncated. */
export type Speech = {
  readonly text?: string;
  readonly calls?: readonly { readonly id: string; readonly name: string; readonly arguments: string }[];
  readonly finish?: "stop" | "length" | "content_filter";
  /** The provider's own stop reason; replaces `finish`. */
  readonly reason?: string;
  /** Identifies the answer, on wires that have such an id. Default: `1`. */
  readonly id?: string;
};

/** Encodes an answer as a provider would stream it. */
export type Encoder = {
  /** Returns the events of the answer and the closing events. */
  encode(speech: Speech): { readonly body: string; readonly end: string };
  /** An event that reports an overloaded provider. */
  readonly overloaded: string;
  /** Every documented reason for the end of a text, in the provider's words, and what the client makes of it. */
  readonly stopReasons: { readonly [reason: string]: StopReason };
};

const formatEvent = (data: Json, name?: string) =>
  `${name ? `event: ${name}\n` : ""}data: ${JSON.stringify(data)}\n\n`;
const splitPieces = (text: string) => text.match(/.{1,5}/gsu) ?? [];

export const openAiChatEncoder: Encoder = {
  encode({ text = "", calls = [], finish = "stop", reason: word, id: answerId = "1" }) {
    const head = { id: `chatcmpl-${answerId}`, object: "chat.completion.chunk" };
    const delta = (piece: Json) =>
      formatEvent({
        ...head,
        choices: [{ index: 0, delta: piece, finish_reason: null }],
      });
    const textEvents = splitPieces(text).map((content) => delta({ content }));
    const callEvents = calls.flatMap(({ id, name, arguments: argumentsText }, index) => [
      delta({ tool_calls: [{ index, id, type: "function", function: { name, arguments: "" } }] }),
      ...splitPieces(argumentsText).map((piece) =>
        delta({ tool_calls: [{ index, function: { arguments: piece } }] }),
      ),
    ]);
    const reason = word ?? (finish === "stop" && calls.length > 0 ? "tool_calls" : finish);
    const usage = { prompt_tokens: 12, completion_tokens: 7 };
    const ending = formatEvent({ ...head, choices: [{ index: 0, delta: {}, finish_reason: reason }] });
    return {
      body: [delta({ role: "assistant", content: "" }), ...textEvents, ...callEvents].join(""),
      end: `${ending}${formatEvent({ ...head, choices: [], usage })}data: [DONE]\n\n`,
    };
  },
  stopReasons: {
    ...{ stop: "end", length: "length", content_filter: "content_filter", refusal: "refusal" },
    // Without calls, these end a text.
    ...{ tool_calls: "end", function_call: "end" },
    ...{ abort: "other", reason_of_the_future: "other" },
  },
  overloaded: formatEvent({
    error: { message: "The server is overloaded.", type: "server_error", code: "server_error" },
  }),
};

export const openAiResponsesEncoder: Encoder = {
  encode({ text = "", calls = [], finish = "stop", reason: word, id: answerId = "1" }) {
    let count = 0;
    const formatTypedEvent = (type: string, fields: { [key: string]: Json }) =>
      formatEvent({ type, sequence_number: count++, ...fields }, type);
    const response = { id: `resp_${answerId}`, status: "in_progress", output: [] };
    const start = formatTypedEvent("response.created", { response });
    const message = {
      type: "message",
      id: "msg_1",
      role: "assistant",
      status: "completed",
      content: [{ type: "output_text", text, annotations: [] }],
    };
    const textEvents = text
      ? [
          formatTypedEvent("response.output_item.added", {
            output_index: 0,
            item: { ...message, status: "in_progress", content: [] },
          }),
          ...splitPieces(text).map((delta) =>
            formatTypedEvent("response.output_text.delta", {
              item_id: "msg_1",
              output_index: 0,
              content_index: 0,
              delta,
            }),
          ),
          formatTypedEvent("response.output_item.done", { output_index: 0, item: message }),
        ]
      : [];
    const offset = text ? 1 : 0;
    const items = calls.map(({ id, name, arguments: argumentsText }, index) => ({
      type: "function_call",
      id: `fc_${index}`,
      call_id: id,
      name,
      arguments: argumentsText,
      status: "completed",
    }));
    const callEvents = items.flatMap((item, index) => [
      formatTypedEvent("response.output_item.added", {
        output_index: index + offset,
        item: { ...item, arguments: "", status: "in_progress" },
      }),
      ...splitPieces(item.arguments).map((delta) =>
        formatTypedEvent("response.function_call_arguments.delta", {
          item_id: item.id,
          output_index: index + offset,
          delta,
        }),
      ),
      formatTypedEvent("response.function_call_arguments.done", {
        item_id: item.id,
        output_index: index + offset,
        arguments: item.arguments,
      }),
      formatTypedEvent("response.output_item.done", { output_index: index + offset, item }),
    ]);
    const output = [...(text ? [message] : []), ...items];
    const usage = { input_tokens: 12, output_tokens: 7, total_tokens: 19 };
    const reason = word ?? (finish === "length" ? "max_output_tokens" : finish);
    const end =
      reason === "stop"
        ? formatTypedEvent("response.completed", {
            response: { ...response, status: "completed", output, usage },
          })
        : formatTypedEvent("response.incomplete", {
            response: { ...response, status: "incomplete", incomplete_details: { reason }, output, usage },
          });
    return { body: [start, ...textEvents, ...callEvents].join(""), end };
  },
  stopReasons: {
    ...{ stop: "end", max_output_tokens: "length", content_filter: "content_filter" },
    ...{ max_tool_calls: "other", reason_of_the_future: "other" },
  },
  overloaded: formatEvent(
    { type: "error", code: "server_error", message: "The server is overloaded." },
    "error",
  ),
};

export const anthropicEncoder: Encoder = {
  encode({ text = "", calls = [], finish = "stop", reason: word, id: answerId = "1" }) {
    const formatTypedEvent = (type: string, fields: { [key: string]: Json } = {}) =>
      formatEvent({ type, ...fields }, type);
    const start = formatTypedEvent("message_start", {
      message: {
        id: `msg_${answerId}`,
        type: "message",
        role: "assistant",
        content: [],
        usage: { input_tokens: 12, output_tokens: 1 },
      },
    });
    const block = (index: number, content_block: Json, deltas: readonly Json[]) => [
      formatTypedEvent("content_block_start", { index, content_block }),
      ...deltas.map((delta) => formatTypedEvent("content_block_delta", { index, delta })),
      formatTypedEvent("content_block_stop", { index }),
    ];
    const textEvents = text
      ? block(
          0,
          { type: "text", text: "" },
          splitPieces(text).map((piece) => ({ type: "text_delta", text: piece })),
        )
      : [];
    const callEvents = calls.flatMap(({ id, name, arguments: argumentsText }, index) =>
      block(
        index + (text ? 1 : 0),
        { type: "tool_use", id, name, input: {} },
        splitPieces(argumentsText).map((partial_json) => ({ type: "input_json_delta", partial_json })),
      ),
    );
    const reasons = {
      stop: calls.length > 0 ? "tool_use" : "end_turn",
      length: "max_tokens",
      content_filter: "refusal",
    };
    const end =
      formatTypedEvent("message_delta", {
        delta: { stop_reason: word ?? reasons[finish] },
        usage: { output_tokens: 7 },
      }) + formatTypedEvent("message_stop");
    return { body: [start, formatTypedEvent("ping"), ...textEvents, ...callEvents].join(""), end };
  },
  stopReasons: {
    ...{ end_turn: "end", stop_sequence: "end", tool_use: "tool_calls", refusal: "refusal" },
    ...{ max_tokens: "length", model_context_window_exceeded: "length" },
    ...{ pause_turn: "pause", compaction: "pause", reason_of_the_future: "other" },
  },
  overloaded: formatEvent(
    { type: "error", error: { type: "overloaded_error", message: "Overloaded" } },
    "error",
  ),
};

export const geminiEncoder: Encoder = {
  encode({ text = "", calls = [], finish = "stop", reason: word, id: responseId = "1" }) {
    const parts = [
      ...splitPieces(text).map((piece): Json => ({ text: piece })),
      ...calls.map(
        ({ id, name, arguments: argumentsText }): Json => ({
          functionCall: { id, name, args: parseArguments(argumentsText) },
        }),
      ),
    ];
    const body = parts
      .map((part) =>
        formatEvent({ candidates: [{ index: 0, content: { role: "model", parts: [part] } }], responseId }),
      )
      .join("");
    const reasons = { stop: "STOP", length: "MAX_TOKENS", content_filter: "SAFETY" };
    const usageMetadata = { promptTokenCount: 12, candidatesTokenCount: 7 };
    return {
      body,
      end: formatEvent({
        ...{ candidates: [{ index: 0, finishReason: word ?? reasons[finish] }], usageMetadata, responseId },
      }),
    };
  },
  stopReasons: {
    ...{ STOP: "end", MAX_TOKENS: "length", SAFETY: "content_filter", RECITATION: "content_filter" },
    ...{ BLOCKLIST: "content_filter", PROHIBITED_CONTENT: "content_filter", SPII: "content_filter" },
    ...{ MODEL_ARMOR: "content_filter", IMAGE_SAFETY: "content_filter", IMAGE_RECITATION: "content_filter" },
    ...{ IMAGE_PROHIBITED_CONTENT: "content_filter", IMAGE_OTHER: "other", NO_IMAGE: "other" },
    ...{ LANGUAGE: "other", OTHER: "other", MALFORMED_FUNCTION_CALL: "other", MALFORMED_RESPONSE: "other" },
    ...{ UNEXPECTED_TOOL_CALL: "other", TOO_MANY_TOOL_CALLS: "other", MISSING_THOUGHT_SIGNATURE: "other" },
    ...{ REASON_OF_THE_FUTURE: "other" },
  },
  overloaded: formatEvent({
    error: { code: 503, status: "UNAVAILABLE", message: "The model is overloaded." },
  }),
};

/** Gemini sends calls as a whole, so truncated arguments cannot occur on its wire. */
function parseArguments(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}
