import type { Json } from "../json.ts";

/** What a provider says in one answer, whatever its wire. `arguments` is text, so that it can be half-said. */
export type Speech = {
  readonly text?: string;
  readonly calls?: readonly { readonly id: string; readonly name: string; readonly arguments: string }[];
  readonly finish?: "stop" | "length" | "content_filter";
};

/** How a provider would stream it. */
export type Encoder = {
  /** The events before the end, and those that end the answer. */
  encode(speech: Speech): { readonly body: string; readonly end: string };
  /** An event that says the provider is overloaded. */
  readonly overloaded: string;
};

const event = (data: Json, name?: string) =>
  `${name ? `event: ${name}\n` : ""}data: ${JSON.stringify(data)}\n\n`;
const pieces = (text: string) => text.match(/.{1,5}/gsu) ?? [];

export const openAiChatEncoder: Encoder = {
  encode({ text = "", calls = [], finish = "stop" }) {
    const delta = (piece: Json) =>
      event({
        id: "chatcmpl-1",
        object: "chat.completion.chunk",
        choices: [{ index: 0, delta: piece, finish_reason: null }],
      });
    const said = pieces(text).map((content) => delta({ content }));
    const called = calls.flatMap(({ id, name, arguments: written }, index) => [
      delta({ tool_calls: [{ index, id, type: "function", function: { name, arguments: "" } }] }),
      ...pieces(written).map((piece) => delta({ tool_calls: [{ index, function: { arguments: piece } }] })),
    ]);
    const reason = finish === "stop" && calls.length > 0 ? "tool_calls" : finish;
    const usage = { prompt_tokens: 12, completion_tokens: 7 };
    return {
      body: [...said, ...called].join(""),
      end: `${event({ choices: [{ index: 0, delta: {}, finish_reason: reason }] })}${event({ choices: [], usage })}data: [DONE]\n\n`,
    };
  },
  overloaded: event({
    error: { message: "The server is overloaded.", type: "server_error", code: "server_error" },
  }),
};

export const openAiResponsesEncoder: Encoder = {
  encode({ text = "", calls = [], finish = "stop" }) {
    const typed = (type: string, fields: { [key: string]: Json }) => event({ type, ...fields }, type);
    const message = {
      type: "message",
      id: "msg_1",
      role: "assistant",
      status: "completed",
      content: [{ type: "output_text", text, annotations: [] }],
    };
    const said = text
      ? [
          typed("response.output_item.added", {
            output_index: 0,
            item: { ...message, status: "in_progress", content: [] },
          }),
          ...pieces(text).map((delta) =>
            typed("response.output_text.delta", {
              item_id: "msg_1",
              output_index: 0,
              content_index: 0,
              delta,
            }),
          ),
          typed("response.output_item.done", { output_index: 0, item: message }),
        ]
      : [];
    const offset = text ? 1 : 0;
    const items = calls.map(({ id, name, arguments: written }, index) => ({
      type: "function_call",
      id: `fc_${index}`,
      call_id: id,
      name,
      arguments: written,
      status: "completed",
    }));
    const called = items.flatMap((item, index) => [
      typed("response.output_item.added", {
        output_index: index + offset,
        item: { ...item, arguments: "", status: "in_progress" },
      }),
      ...pieces(item.arguments).map((delta) =>
        typed("response.function_call_arguments.delta", {
          item_id: item.id,
          output_index: index + offset,
          delta,
        }),
      ),
      typed("response.function_call_arguments.done", {
        item_id: item.id,
        output_index: index + offset,
        arguments: item.arguments,
      }),
      typed("response.output_item.done", { output_index: index + offset, item }),
    ]);
    const output = [...(text ? [message] : []), ...items];
    const usage = { input_tokens: 12, output_tokens: 7, total_tokens: 19 };
    const reason = finish === "length" ? "max_output_tokens" : finish;
    const end =
      finish === "stop"
        ? typed("response.completed", { response: { id: "resp_1", status: "completed", output, usage } })
        : typed("response.incomplete", {
            response: { id: "resp_1", status: "incomplete", incomplete_details: { reason }, output, usage },
          });
    return { body: [...said, ...called].join(""), end };
  },
  overloaded: event({ type: "error", code: "server_error", message: "The server is overloaded." }, "error"),
};

export const anthropicEncoder: Encoder = {
  encode({ text = "", calls = [], finish = "stop" }) {
    const typed = (type: string, fields: { [key: string]: Json } = {}) => event({ type, ...fields }, type);
    const start = typed("message_start", {
      message: {
        id: "msg_1",
        type: "message",
        role: "assistant",
        content: [],
        usage: { input_tokens: 12, output_tokens: 1 },
      },
    });
    const block = (index: number, content_block: Json, deltas: readonly Json[]) => [
      typed("content_block_start", { index, content_block }),
      ...deltas.map((delta) => typed("content_block_delta", { index, delta })),
      typed("content_block_stop", { index }),
    ];
    const said = text
      ? block(
          0,
          { type: "text", text: "" },
          pieces(text).map((piece) => ({ type: "text_delta", text: piece })),
        )
      : [];
    const called = calls.flatMap(({ id, name, arguments: written }, index) =>
      block(
        index + (text ? 1 : 0),
        { type: "tool_use", id, name, input: {} },
        pieces(written).map((partial_json) => ({ type: "input_json_delta", partial_json })),
      ),
    );
    const reasons = {
      stop: calls.length > 0 ? "tool_use" : "end_turn",
      length: "max_tokens",
      content_filter: "refusal",
    };
    const end =
      typed("message_delta", { delta: { stop_reason: reasons[finish] }, usage: { output_tokens: 7 } }) +
      typed("message_stop");
    return { body: [start, typed("ping"), ...said, ...called].join(""), end };
  },
  overloaded: event({ type: "error", error: { type: "overloaded_error", message: "Overloaded" } }, "error"),
};

export const geminiEncoder: Encoder = {
  encode({ text = "", calls = [], finish = "stop" }) {
    const parts = [
      ...pieces(text).map((piece): Json => ({ text: piece })),
      ...calls.map(
        ({ id, name, arguments: written }): Json => ({ functionCall: { id, name, args: parsed(written) } }),
      ),
    ];
    const body = parts
      .map((part) => event({ candidates: [{ index: 0, content: { role: "model", parts: [part] } }] }))
      .join("");
    const reasons = { stop: "STOP", length: "MAX_TOKENS", content_filter: "SAFETY" };
    const usageMetadata = { promptTokenCount: 12, candidatesTokenCount: 7 };
    return { body, end: event({ candidates: [{ index: 0, finishReason: reasons[finish] }], usageMetadata }) };
  },
  overloaded: event({ error: { code: 503, status: "UNAVAILABLE", message: "The model is overloaded." } }),
};

/** Gemini's calls come whole: half-said arguments cannot be on its wire. */
function parsed(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}
