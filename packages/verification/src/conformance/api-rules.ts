import type { SentRequest } from "./check-requests.ts";
import { type Fields, openAiRules, toFields } from "./openai-rules.ts";

/** A documented reason for which an API rejects a request whose fields all exist. */
type Rule = {
  readonly api: string;
  readonly reason: string;
  isBroken(body: Fields, model: string): boolean;
};

const toList = (value: unknown): readonly Fields[] => (Array.isArray(value) ? value : []);

const isThinking = ({ thinking }: Fields): boolean =>
  /enabled|adaptive/.test(String(toFields(thinking).type));
const isForced = ({ tool_choice }: Fields): boolean => /any|tool/.test(String(toFields(tool_choice).type));
const listBlocks = ({ messages }: Fields): readonly Fields[] =>
  toList(messages).flatMap(({ content }) => toList(content));

const anthropicRules: readonly Omit<Rule, "api">[] = [
  {
    reason: "a budget has at least 1,024 tokens and is below max_tokens",
    isBroken: ({ thinking, max_tokens }) => {
      const { budget_tokens: budget } = toFields(thinking);
      return budget !== undefined && (Number(budget) < 1024 || Number(budget) >= Number(max_tokens));
    },
  },
  {
    reason: "no temperature or top_p while the model thinks",
    isBroken: (body) => isThinking(body) && ("temperature" in body || "top_p" in body),
  },
  { reason: "a temperature is at most 1", isBroken: ({ temperature = 0 }) => Number(temperature) > 1 },
  {
    reason: "from version 4 on, not both temperature and top_p",
    isBroken: (body, model) => !/claude-3/.test(model) && "temperature" in body && "top_p" in body,
  },
  {
    reason: "from version 4.7 on, neither temperature nor top_p",
    isBroken: (body, model) =>
      /4-[78]|-5|preview/.test(model.replace(/-3-5|-4-5/, "")) && ("temperature" in body || "top_p" in body),
  },
  {
    reason: "thinking and a forced call exclude each other",
    isBroken: (body) => isThinking(body) && isForced(body),
  },
  {
    reason: "some models reject forced calls",
    isBroken: (body, model) => /(?:opus|sonnet)-5-5|(?:fable|mythos)-5-1/.test(model) && isForced(body),
  },
  {
    reason: "newer models reject thinking for another prefix, unless it may be dropped",
    isBroken: (body, model) =>
      /-5-5|(?:fable|mythos)-5-1/.test(model) &&
      /"type":"(?:redacted_)?thinking"/.test(JSON.stringify(body.messages ?? [])) &&
      !/disabled|between_tools/.test(String(toFields(body.thinking).type)) &&
      !("block_binding" in toFields(body.thinking)),
  },
  {
    reason: "from 5.5 on, the computer is a set of tools",
    isBroken: ({ tools }, model) =>
      /-5-5/.test(model) && toList(tools).some(({ type }) => /^computer_\d/.test(String(type))),
  },
  {
    reason: "messages alternate and start with the user",
    isBroken: ({ messages }) =>
      toList(messages).some(({ role }, index) => role !== (index % 2 === 0 ? "user" : "assistant")),
  },
  {
    reason: "no message and no text is empty",
    isBroken: (body) =>
      toList(body.messages).some(({ content }) => toList(content).length === 0) ||
      listBlocks(body).some(({ type, text }) => type === "text" && String(text).trim() === ""),
  },
  {
    reason: "every call is answered once, and has an id of its own",
    isBroken: (body) => {
      const blocks = listBlocks(body);
      const called = blocks.filter(({ type }) => type === "tool_use").map(({ id }) => id);
      const answered = blocks.filter(({ type }) => type === "tool_result").map((block) => block.tool_use_id);
      return new Set(called).size < called.length || called.toSorted().join() !== answered.toSorted().join();
    },
  },
];

const config = ({ generationConfig }: Fields): Fields => toFields(generationConfig);

const geminiRules: readonly Omit<Rule, "api">[] = [
  {
    reason: "a thinking level and a budget exclude each other",
    isBroken: (body) => {
      const thinking = toFields(config(body).thinkingConfig);
      return "thinkingLevel" in thinking && "thinkingBudget" in thinking;
    },
  },
  {
    reason: "models before 2.5 do not think, and those before 3 have no levels",
    isBroken: (body, model) => {
      const thinking = config(body).thinkingConfig;
      return (
        (/gemma|2\.0|image/.test(model) && thinking !== undefined) ||
        (/2\.5/.test(model) && "thinkingLevel" in toFields(thinking))
      );
    },
  },
  {
    reason: "newer models reject a conversation that ends with their own turn",
    isBroken: ({ contents }, model) =>
      /3\.5-flash-lite|3\.8/.test(model) && toList(contents).at(-1)?.role === "model",
  },
  {
    reason: "there are at most 5 stop texts",
    isBroken: (body) => toList(config(body).stopSequences).length > 5,
  },
];

export const rules: readonly Rule[] = [
  ...anthropicRules.map((rule) => ({ ...rule, api: "anthropic" })),
  ...geminiRules.map((rule) => ({ ...rule, api: "gemini" })),
  ...openAiRules,
];

/** Returns the rules that requests break, each with the body. */
export function findRuleProblems(requests: readonly SentRequest[]): string[] {
  return requests.flatMap(({ api, model, body }) =>
    rules
      .filter((rule) => rule.api === api.name && rule.isBroken(body, model))
      .map(({ reason }) => `${api.name}, ${model}: ${reason}\n${JSON.stringify(body)}`),
  );
}
