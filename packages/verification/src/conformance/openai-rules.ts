export type Fields = { readonly [field: string]: unknown };
type OpenAiRule = {
  readonly api: "openai-responses" | "openai-chat";
  readonly reason: string;
  isBroken(body: Fields, model: string): boolean;
};

export const toFields = (value: unknown): Fields =>
  typeof value === "object" ? ((value ?? {}) as Fields) : {};

const isPlain = (model: string): boolean => /^gpt-[34]|chat-latest/.test(model);
const isFrom = (model: string, version: number): boolean => Number(/\d+(\.\d+)?/.exec(model)?.[0]) >= version;
const isSampled = (body: Fields): boolean =>
  ["temperature", "top_p", "logprobs", "top_logprobs"].some((field) => field in body);
/** On both APIs. */
const getEffort = (body: Fields): unknown => toFields(body.reasoning).effort ?? body.reasoning_effort;

const sharedRules: readonly Omit<OpenAiRule, "api">[] = [
  {
    reason: "models that do not reason have no effort",
    isBroken: (body, model) => isPlain(model) && getEffort(body) !== undefined,
  },
  {
    reason: "models that reason are not sampled, except without effort from gpt-5.1 to gpt-5.9",
    isBroken: (body, model) =>
      !isPlain(model) &&
      isSampled(body) &&
      !(/^gpt-5\./.test(model) && isFrom(model, 5.1) && getEffort(body) === "none"),
  },
  {
    reason: "models before gpt-5.1 cannot stop reasoning",
    isBroken: (body, model) => getEffort(body) === "none" && (/^o\d/.test(model) || !isFrom(model, 5.1)),
  },
  {
    reason: "only gpt-5 has a minimal effort",
    isBroken: (body, model) => getEffort(body) === "minimal" && !/^gpt-5(-mini|-nano)?$/.test(model),
  },
  {
    reason: "the cache has options from gpt-5.6 on, and a retention before",
    isBroken: (body, model) =>
      isFrom(model, 5.6) && !/^o\d/.test(model)
        ? "prompt_cache_retention" in body
        : "prompt_cache_options" in body,
  },
  {
    reason: "a tool choice and a limit of calls need tools",
    isBroken: (body) => !("tools" in body) && ("tool_choice" in body || "parallel_tool_calls" in body),
  },
];

const responsesRules: readonly Omit<OpenAiRule, "api">[] = [
  {
    reason: "alternatives of tokens need log probabilities",
    isBroken: ({ top_logprobs, include }) =>
      top_logprobs !== undefined && !JSON.stringify(include ?? []).includes("output_text.logprobs"),
  },
];

const chatRules: readonly Omit<OpenAiRule, "api">[] = [
  {
    reason: "alternatives of tokens need log probabilities",
    isBroken: ({ top_logprobs, logprobs }) => top_logprobs !== undefined && logprobs !== true,
  },
  {
    reason: "models that reason do not stop at a text",
    isBroken: (body, model) => "stop" in body && !isPlain(model),
  },
  {
    reason: "o models do not limit the calls of an answer",
    isBroken: (body, model) => "parallel_tool_calls" in body && /^o\d/.test(model),
  },
];

/** Documented reasons for which OpenAI rejects a request whose fields all exist. */
export const openAiRules: readonly OpenAiRule[] = [
  ...[...sharedRules, ...responsesRules].map((rule) => ({ ...rule, api: "openai-responses" as const })),
  ...[...sharedRules, ...chatRules].map((rule) => ({ ...rule, api: "openai-chat" as const })),
];
