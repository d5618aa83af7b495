import type { Answer, Call } from "./script.ts";
import { data, padding } from "./server-sent-events.ts";

const head = {
  id: "chatcmpl-C0hVgq2nZ1tYk8mXwP4sRb7LdJeQ",
  object: "chat.completion.chunk",
  created: 1_760_000_000,
  model: "gpt-4o-mini-2024-07-18",
  service_tier: "default",
  system_fingerprint: "fp_560af6e559",
};

const chunk = (delta: object, n = 0): string =>
  data({
    ...head,
    choices: [{ index: 0, delta, logprobs: null, finish_reason: null }],
    usage: null,
    obfuscation: padding(n),
  });

const end = (finish_reason: string): string[] => [
  data({ ...head, choices: [{ index: 0, delta: {}, logprobs: null, finish_reason }], usage: null }),
  data({ ...head, choices: [], usage: { prompt_tokens: 120, completion_tokens: 40, total_tokens: 160 } }),
  "data: [DONE]\n\n",
];

const call = ({ id, name, fragments }: Call, index: number): string[] => [
  chunk({ tool_calls: [{ index, id, type: "function", function: { name, arguments: "" } }] }),
  ...fragments.map((text, n) => chunk({ tool_calls: [{ index, function: { arguments: text } }] }, n)),
];

/** OpenAI's chat completions. Each has an id of its own, by which some frameworks keep their messages. */
export function chat(answer: Answer): string[] {
  const id = "calls" in answer ? answer.calls[0]?.id.replace("call_", head.id) : undefined;
  return id ? eventsOf(answer).map((event) => event.replace(head.id, id)) : eventsOf(answer);
}

function eventsOf(answer: Answer): string[] {
  if ("calls" in answer)
    return [chunk({ role: "assistant", content: null }), ...answer.calls.flatMap(call), ...end("tool_calls")];
  const [first = "", ...rest] = answer.text;
  return [
    chunk({ role: "assistant", content: first }),
    ...rest.map((content, n) => chunk({ content }, n)),
    ...end("stop"),
  ];
}
