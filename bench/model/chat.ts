import type { Answer, Call } from "./script.ts";
import { createPadding, encodeData } from "./server-sent-events.ts";

const head = {
  id: "chatcmpl-C0hVgq2nZ1tYk8mXwP4sRb7LdJeQ",
  object: "chat.completion.chunk",
  created: 1_760_000_000,
  model: "gpt-4o-mini-2024-07-18",
  service_tier: "default",
  system_fingerprint: "fp_560af6e559",
};

const encodeChunk = (delta: object, n = 0): string =>
  encodeData({
    ...head,
    choices: [{ index: 0, delta, logprobs: null, finish_reason: null }],
    usage: null,
    obfuscation: createPadding(n),
  });

const encodeEnd = (finish_reason: string): string[] => [
  encodeData({ ...head, choices: [{ index: 0, delta: {}, logprobs: null, finish_reason }], usage: null }),
  encodeData({
    ...head,
    choices: [],
    usage: { prompt_tokens: 120, completion_tokens: 40, total_tokens: 160 },
  }),
  "data: [DONE]\n\n",
];

const encodeCall = ({ id, name, fragments }: Call, index: number): string[] => [
  encodeChunk({ tool_calls: [{ index, id, type: "function", function: { name, arguments: "" } }] }),
  ...fragments.map((text, n) => encodeChunk({ tool_calls: [{ index, function: { arguments: text } }] }, n)),
];

/** OpenAI's Chat Completions API. Each response has a unique id, which some frameworks use as a message key. */
export function encodeChat(answer: Answer): string[] {
  const id = "calls" in answer ? answer.calls[0]?.id.replace("call_", head.id) : undefined;
  return id ? encodeAnswer(answer).map((event) => event.replace(head.id, id)) : encodeAnswer(answer);
}

function encodeAnswer(answer: Answer): string[] {
  if ("calls" in answer)
    return [
      encodeChunk({ role: "assistant", content: null }),
      ...answer.calls.flatMap(encodeCall),
      ...encodeEnd("tool_calls"),
    ];
  const [first = "", ...rest] = answer.text;
  return [
    encodeChunk({ role: "assistant", content: first }),
    ...rest.map((content, n) => encodeChunk({ content }, n)),
    ...encodeEnd("stop"),
  ];
}
