// Answers as the providers stream them, with the fields that real ones have: so many pieces of text, or one call whose
// arguments come in so many pieces.
export type Piece = "text" | "arguments";

/** The server-sent events of one answer. */
export type Encode = (piece: Piece, count: number) => string;

const words = "The quick brown fox jumps over the lazy dog, then it rests. ".match(/\S+\s/g) ?? [];
const word = (n: number): string => words[n % words.length] ?? "";
const hash = (n: number): string =>
  Math.imul(n + 1, 2_654_435_761)
    .toString(36)
    .replace("-", "");

const data = (value: object): string => `data: ${JSON.stringify(value)}\n\n`;
const named = (value: { type: string }): string => `event: ${value.type}\n${data(value)}`;
const many = (count: number, make: (n: number) => string): string =>
  Array.from({ length: count }, (_, n) => make(n)).join("");
/** The text of the arguments: one field, said word by word. */
const written = (count: number): string[] => [
  '{"text":"',
  ...Array.from({ length: count - 2 }, (_, n) => word(n)),
  '"}',
];

export const chat: Encode = (piece, count) => {
  const head = {
    id: "chatcmpl-C0hVgq2nZ1tYk8mXwP4sRb7LdJeQ",
    object: "chat.completion.chunk",
    created: 1_760_000_000,
    model: "gpt-4o-mini-2024-07-18",
    service_tier: "default",
    system_fingerprint: "fp_560af6e559",
  };
  const chunk = (delta: object, finish: string | null = null, n = 0) =>
    data({
      ...head,
      choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
      usage: null,
      obfuscation: hash(n),
    });
  const call = {
    index: 0,
    id: "call_8QmB2vXr5tYp1",
    type: "function",
    function: { name: "write", arguments: "" },
  };
  const said =
    piece === "text"
      ? many(count, (n) => chunk({ content: word(n) }, null, n))
      : chunk({ tool_calls: [call] }) +
        written(count)
          .map((text, n) => chunk({ tool_calls: [{ index: 0, function: { arguments: text } }] }, null, n))
          .join("");
  const usage = { prompt_tokens: 120, completion_tokens: count, total_tokens: 120 + count };
  return `${chunk({ role: "assistant", content: piece === "text" ? "" : null })}${said}${chunk({}, piece === "text" ? "stop" : "tool_calls")}${data({ ...head, choices: [], usage })}data: [DONE]\n\n`;
};

export const responses: Encode = (piece, count) => {
  let sequence_number = 0;
  const typed = (type: string, fields: object) =>
    named({ type, sequence_number: sequence_number++, ...fields } as never);
  const place = { item_id: "item_0c0a9a8e36f3f746016a0e8f19998c819b", output_index: 0 };
  const usage = { input_tokens: 120, output_tokens: count, total_tokens: 120 + count };
  const response = { id: "resp_0c0a9a8e36f3f746016a0e8f18d0a8819b", object: "response", model: "gpt-5-mini" };
  const texts = piece === "text" ? Array.from({ length: count }, (_, n) => word(n)) : written(count);
  const text = texts.join("");
  const item =
    piece === "text"
      ? { type: "message", role: "assistant", content: [{ type: "output_text", text, annotations: [] }] }
      : { type: "function_call", call_id: "call_8QmB2vXr5tYp1", name: "write", arguments: text };
  const empty = piece === "text" ? { ...item, content: [] } : { ...item, arguments: "" };
  const kind = piece === "text" ? "output_text" : "function_call_arguments";
  const where = piece === "text" ? { ...place, content_index: 0, logprobs: [] } : place;
  const output = [{ id: place.item_id, status: "completed", ...item }];
  return [
    typed("response.created", { response: { ...response, status: "in_progress", output: [] } }),
    typed("response.output_item.added", {
      ...place,
      item: { id: place.item_id, status: "in_progress", ...empty },
    }),
    ...texts.map((delta, n) => typed(`response.${kind}.delta`, { ...where, delta, obfuscation: hash(n) })),
    typed("response.output_item.done", { ...place, item: output[0] }),
    typed("response.completed", { response: { ...response, status: "completed", output, usage } }),
  ].join("");
};

export const messages: Encode = (piece, count) => {
  const message = {
    model: "claude-haiku-4-5-20251001",
    id: "msg_01KMM1JxxxJ9V4C63siw3bnY",
    type: "message",
    role: "assistant",
    content: [],
    stop_reason: null,
    usage: { input_tokens: 120, output_tokens: 1 },
  };
  const block =
    piece === "text"
      ? { type: "text", text: "" }
      : { type: "tool_use", id: "toolu_01A09q90qw90lq917835lq9", name: "write", input: {} };
  const delta = (n: number, text: string) =>
    piece === "text"
      ? { type: "text_delta", text: word(n) }
      : { type: "input_json_delta", partial_json: text };
  const texts = written(count);
  return [
    { type: "message_start", message },
    { type: "content_block_start", index: 0, content_block: block },
    ...texts.map((text, n) => ({ type: "content_block_delta", index: 0, delta: delta(n, text) })),
    { type: "content_block_stop", index: 0 },
    {
      type: "message_delta",
      delta: { stop_reason: piece === "text" ? "end_turn" : "tool_use", stop_sequence: null },
      usage: { output_tokens: count },
    },
    { type: "message_stop" },
  ]
    .map(named)
    .join("");
};

export const content: Encode = (piece, count) => {
  const answer = (part: object, n: number, finishReason?: string) =>
    data({
      candidates: [
        { content: { parts: [part], role: "model" }, ...(finishReason && { finishReason }), index: 0 },
      ],
      usageMetadata: { promptTokenCount: 120, candidatesTokenCount: n, totalTokenCount: 120 + n },
      modelVersion: "gemini-2.5-flash",
      responseId: "5Xb2aK7xLq2cnvgP0oG4sAw",
    });
  if (piece === "text")
    return many(count, (n) => answer({ text: word(n) }, n)) + answer({ text: "" }, count, "STOP");
  const partial = (n: number) => ({
    functionCall: {
      partialArgs: [
        { jsonPath: "$.text", stringValue: word(n), ...(n < count - 1 && { willContinue: true }) },
      ],
      willContinue: true,
    },
  });
  return (
    answer({ functionCall: { name: "write", willContinue: true } }, 0) +
    many(count, (n) => answer(partial(n), n)) +
    answer({ functionCall: {} }, count, "STOP")
  );
};
