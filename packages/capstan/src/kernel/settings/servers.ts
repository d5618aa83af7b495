// Servers with an OpenAI-compatible API agree on most fields, but not on how a request asks for reasoning.
import type { Json } from "../../base/json.ts";
import { type EffortLevel, toCommonLevel, toLevel } from "./effort.ts";
import type { Limit } from "./limit.ts";
import { findReasoning } from "./openai-models.ts";
import type { Effort } from "./settings.ts";

type Fields = { readonly [field: string]: Json };

/** The server's words for the levels of effort of some models. A level without a word is not sent; above `high`, its word is. */
export type EffortWords = { readonly models: RegExp } & { readonly [Level in EffortLevel]?: string };

/** How a server follows settings that not all servers follow alike. */
export type ServerSupport = {
  /** The field that asks for reasoning, or body fields that turn it on and off. Default: `reasoning_effort`. */
  readonly thinking?: keyof typeof thinkingFields | { readonly on?: Fields; readonly off?: Fields };
  /** The first match counts; other models get no effort. Default: every model gets our words. */
  readonly efforts?: readonly EffortWords[];
  /** False if the server rejects requests for log probabilities, or reports them in its own format. */
  readonly logprobs?: boolean;
  /** Models whose prompts are cached only on request, by a marker of Anthropic's at the top of the body. */
  readonly cacheControl?: RegExp;
};

/** Fields by the name of the most telling one. `effort` is the original setting, for servers with token budgets. */
const thinkingFields = {
  reasoning_effort: (word: string): Fields => ({ reasoning_effort: word }),
  /** OpenRouter, Vercel: models that cannot reason ignore it; `xhigh` is their highest level. */
  reasoning: (word: string, effort: Effort): Fields => ({
    reasoning: typeof effort === "number" ? { max_tokens: effort } : { effort: word },
  }),
  /** Together: a switch for some models, levels for others. */
  reasoning_enabled: (word: string): Fields => ({
    reasoning: { enabled: word !== "none" },
    ...(word !== "none" && { reasoning_effort: word }),
  }),
  /** DeepSeek, Moonshot, Z.ai. */
  thinking: (word: string): Fields =>
    word === "none"
      ? { thinking: { type: "disabled" } }
      : { thinking: { type: "enabled" }, reasoning_effort: word },
  /** Qwen on Alibaba's servers. */
  enable_thinking: (word: string, effort: Effort): Fields => ({
    enable_thinking: word !== "none",
    ...(typeof effort === "number" && { thinking_budget: effort }),
  }),
  /** llama.cpp, vLLM, SGLang: the chat template of a model ignores values that it does not know. */
  chat_template_kwargs: (word: string): Fields =>
    word === "none"
      ? { chat_template_kwargs: { enable_thinking: false } }
      : { chat_template_kwargs: { enable_thinking: true, reasoning_effort: word }, reasoning_effort: word },
} as const;

const levels = { low: "low", medium: "medium", high: "high" } as const;
const always: Omit<EffortWords, "models"> = { none: "low", ...levels };

/** The servers with a name that differ from the defaults. */
export const servers: { readonly [provider: string]: ServerSupport } = {
  openrouter: { thinking: "reasoning", cacheControl: /^~?anthropic\// },
  gateway: { thinking: "reasoning" },
  deepseek: { thinking: "thinking" },
  together: { thinking: "reasoning_enabled", logprobs: false },
  llamacpp: { thinking: "chat_template_kwargs" },
  vllm: { thinking: "chat_template_kwargs" },
  groq: {
    efforts: [
      { models: /gpt-oss/, ...always },
      { models: /qwen/, none: "none", low: "default", medium: "default", high: "default" },
    ],
    logprobs: false,
  },
  cerebras: {
    efforts: [
      { models: /gpt-oss/, ...always },
      { models: /glm/, none: "none" },
    ],
  },
  mistral: {
    efforts: [
      {
        models: /^mistral-(small|medium)-(latest|2[6-9]\d\d|3\.[5-9])/,
        ...{ none: "none", low: "high", medium: "high", high: "high" },
      },
    ],
    logprobs: false,
  },
  xai: {
    efforts: [
      { models: /grok-3-mini/, none: "low", low: "low", medium: "low", high: "high" },
      { models: /^grok-(?!.*non-reasoning)(4\.[3-9](?!\d)|[5-9]|latest)/, none: "none", ...levels },
    ],
  },
};

type Wish = { readonly effort?: Effort | undefined; readonly thinking: boolean };

/** Builds the fields that ask for an effort. A wish to think is sent only if the model cannot reject it. */
export function buildEffortFields(model: string, { effort, thinking }: Wish, support: ServerSupport): Fields {
  const { thinking: form = "reasoning_effort" } = support;
  if (typeof form === "object") {
    const isOn = effort === undefined ? thinking : effort !== "none";
    return (isOn ? form.on : form.off) ?? {};
  }
  const wanted = effort ?? (thinking && canWish(model, support) ? "medium" : undefined);
  const word = wanted === undefined ? undefined : findWord(model, wanted, support);
  return wanted === undefined || word === undefined ? {} : thinkingFields[form](word, wanted);
}

function findWord(model: string, effort: Effort, { efforts, thinking }: ServerSupport): string | undefined {
  if (findReasoning(model) === false) return undefined;
  const level = toLevel(effort);
  const common = toCommonLevel(level);
  if (!efforts) return level === common ? level : thinking === "reasoning" ? "xhigh" : common;
  const words = efforts.find(({ models }) => models.test(model));
  return words?.[level] ?? words?.[common];
}

/** Models that reason only on request, and accept the request. */
const onDemandReasoners = /gpt-oss|claude-(opus|sonnet|haiku)-[4-9]|gemini-(2\.5|[3-9])/;

function canWish(model: string, { thinking, efforts }: ServerSupport): boolean {
  if (efforts || thinking === "reasoning" || thinking === "chat_template_kwargs") return true;
  return thinking === undefined && (findReasoning(model) === true || onDemandReasoners.test(model));
}

/** How a server follows an effort: as it is, with the nearest level, or not at all. */
function findEffortSupport(
  model: string,
  effort: Effort,
  support: ServerSupport,
): "exact" | "nearest" | "none" {
  const { thinking } = support;
  if (typeof thinking === "object") return typeof effort === "number" ? "nearest" : "exact";
  const word = findWord(model, effort, support);
  if (word === undefined) return effort === "none" ? "exact" : "none";
  const hasBudgets = thinking === "reasoning" || thinking === "enable_thinking";
  return word === effort || (hasBudgets && typeof effort === "number") ? "exact" : "nearest";
}

/** What a server cannot do. */
export function listServerLimits(support: ServerSupport = {}): readonly Limit[] {
  const toEffortLimit = (kind: "nearest" | "none", reason: string): Limit => ({
    field: "effort",
    effect: "ignored",
    applies: (effort, _settings, model) => findEffortSupport(model, effort as Effort, support) === kind,
    reason,
  });
  return [
    toEffortLimit("none", "its reasoning cannot be set"),
    toEffortLimit("nearest", "the nearest of its levels is used"),
    {
      field: "logprobs",
      effect: "refused",
      applies: (value) => value !== false && support.logprobs === false,
      reason: "the server does not report them",
    },
    {
      field: "cache",
      effect: "ignored",
      applies: (cache, _settings, model) => cache !== "short" && !support.cacheControl?.test(model),
      reason: "the server decides how long it keeps prompts",
    },
  ];
}
