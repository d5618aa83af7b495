import type { Answer } from "./script.ts";
import { createPadding, encodeNamedEvent } from "./server-sent-events.ts";

type Item = {
  readonly item: object;
  readonly empty: object;
  readonly kind: string;
  readonly where: object;
  readonly pieces: readonly string[];
};

const response = {
  id: "resp_0c0a9a8e36f3f746016a0e8f18d0a8819b",
  object: "response",
  created_at: 1_760_000_000,
  model: "gpt-5-mini",
  parallel_tool_calls: true,
  tools: [],
};
const usage = {
  input_tokens: 120,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 40,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 160,
};

function toItems(answer: Answer): Item[] {
  if ("calls" in answer)
    return answer.calls.map(({ id: call_id, name, fragments: pieces }) => {
      const item = { type: "function_call", call_id, name, arguments: pieces.join("") };
      return { item, empty: { ...item, arguments: "" }, kind: "function_call_arguments", where: {}, pieces };
    });
  const content = [{ type: "output_text", text: answer.text.join(""), annotations: [], logprobs: [] }];
  const item = { type: "message", role: "assistant", content };
  const where = { content_index: 0, logprobs: [] };
  return [{ item, empty: { ...item, content: [] }, kind: "output_text", where, pieces: answer.text }];
}

/** OpenAI's Responses API. */
export function encodeResponses(answer: Answer): string[] {
  let sequence_number = 0;
  const encodeEvent = (type: string, fields: object) =>
    encodeNamedEvent({ type, sequence_number: sequence_number++, ...fields });
  const items = toItems(answer).map((item, output_index) => ({
    ...item,
    place: { item_id: `item_0c0a9a8e36f3f746016a0e8f1999${output_index}`, output_index },
  }));
  const output = items.map(({ item, place }) => ({ id: place.item_id, status: "completed", ...item }));
  return [
    encodeEvent("response.created", { response: { ...response, status: "in_progress", output: [] } }),
    ...items.flatMap(({ empty, kind, where, pieces, place }, index) => [
      encodeEvent("response.output_item.added", {
        output_index: place.output_index,
        item: { id: place.item_id, status: "in_progress", ...empty },
      }),
      ...encodePartStart(kind, encodeEvent, place),
      ...pieces.map((delta, n) =>
        encodeEvent(`response.${kind}.delta`, { ...place, ...where, delta, obfuscation: createPadding(n) }),
      ),
      ...encodePartEnd(kind, encodeEvent, { place, text: pieces.join("") }),
      encodeEvent("response.output_item.done", { output_index: place.output_index, item: output[index] }),
    ]),
    encodeEvent("response.completed", { response: { ...response, status: "completed", output, usage } }),
  ];
}

type EncodeEvent = (type: string, fields: object) => string;

function encodePartStart(kind: string, encodeEvent: EncodeEvent, place: object): string[] {
  if (kind !== "output_text") return [];
  const part = { type: "output_text", text: "", annotations: [], logprobs: [] };
  return [encodeEvent("response.content_part.added", { ...place, content_index: 0, part })];
}

function encodePartEnd(
  kind: string,
  encodeEvent: EncodeEvent,
  { place, text }: { place: object; text: string },
): string[] {
  if (kind !== "output_text") return [encodeEvent(`response.${kind}.done`, { ...place, arguments: text })];
  const part = { type: "output_text", text, annotations: [], logprobs: [] };
  return [
    encodeEvent("response.output_text.done", { ...place, content_index: 0, text, logprobs: [] }),
    encodeEvent("response.content_part.done", { ...place, content_index: 0, part }),
  ];
}
