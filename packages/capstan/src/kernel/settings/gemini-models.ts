import { isAboveHigh } from "./effort.ts";
import type { Limit } from "./limit.ts";
import type { Effort, ModelSettings } from "./settings.ts";

/** What a Gemini model accepts. It depends on the version. */
export type GeminiTraits = {
  /** Whether the effort is a level or a number of tokens; `none` for models whose thinking cannot be changed. */
  readonly thinking: "none" | "budget" | "levels";
  /** The accepted budgets. A minimum above 0 means that thinking cannot be turned off. */
  readonly budget: { readonly minimum: number; readonly maximum: number };
  /** Used for the effort `none`, because newer models always think. */
  readonly lowestLevel: "minimal" | "low";
  readonly hasMediumLevel: boolean;
  /** Newer models ignore a temperature and top-p, and reject a conversation that ends with their own turn. */
  readonly isStrict: boolean;
  readonly reportsLogprobs: boolean;
};

/** Returns the traits of a model. A name without a version, such as a tuned model's, counts as 2.5. */
export function getGeminiTraits(model: string): GeminiTraits {
  const [, digits = 2.5] = /gemini-(\d+(?:\.\d+)?)/.exec(model) ?? [];
  const version = /-latest$/.test(model) ? Number.POSITIVE_INFINITY : Number(digits);
  const isPro = /-pro\b/.test(model);
  const isLite = /-flash-lite/.test(model);
  const cannotThink = version < 2.5 || /gemma|-image|-tts|-audio|-live|robotics|computer-use/.test(model);
  return {
    thinking: cannotThink ? "none" : version < 3 ? "budget" : "levels",
    budget: isPro ? { minimum: 128, maximum: 32_768 } : { minimum: 0, maximum: 24_576 },
    lowestLevel: isPro || version >= 3.7 ? "low" : "minimal",
    hasMediumLevel: !(isPro && version < 3.1),
    isStrict: version >= 3.6 || (version >= 3.5 && isLite),
    reportsLogprobs: version < 3,
  };
}

/** Creates a limit that depends on the traits of the model. */
function createGeminiLimit(
  field: Limit["field"],
  reason: string,
  applies: (gemini: GeminiTraits, settings: ModelSettings) => boolean,
): Limit {
  return {
    field,
    effect: "ignored",
    reason,
    applies: (_value, settings, model) => applies(getGeminiTraits(model), settings),
  };
}

const isOutside = (effort: Effort | undefined, { minimum, maximum }: GeminiTraits["budget"]): boolean =>
  typeof effort === "number" && (effort < minimum || effort > maximum);

const maxStops = 5;
const maxSeed = 2 ** 31 - 1;

/** What Gemini's API cannot do. */
export const geminiLimits: readonly Limit[] = [
  ...(["temperature", "topP"] as const).map((field) =>
    createGeminiLimit(field, "the model chooses its own sampling", ({ isStrict }) => isStrict),
  ),
  createGeminiLimit(
    "effort",
    "the thinking of this model cannot be changed",
    ({ thinking }, { effort }) => thinking === "none" && effort !== "none",
  ),
  createGeminiLimit(
    "effort",
    "the model always thinks; its lowest effort is used",
    ({ thinking, budget }, { effort }) =>
      effort === "none" && (thinking === "levels" || (thinking === "budget" && budget.minimum > 0)),
  ),
  createGeminiLimit(
    "effort",
    "the nearest of its levels is used",
    ({ thinking, hasMediumLevel }, { effort }) =>
      thinking === "levels" &&
      (typeof effort === "number" || isAboveHigh(effort) || (effort === "medium" && !hasMediumLevel)),
  ),
  createGeminiLimit(
    "effort",
    "the nearest budget that the model accepts is used",
    ({ thinking, budget }, { effort }) =>
      thinking === "budget" && (isAboveHigh(effort) || isOutside(effort, budget)),
  ),
  {
    field: "stop",
    effect: "refused",
    applies: (value) => Array.isArray(value) && value.length > maxStops,
    reason: `at most ${maxStops} texts are allowed`,
  },
  {
    field: "seed",
    effect: "refused",
    applies: (value) => Math.abs(Number(value)) > maxSeed,
    reason: `the largest seed is ${maxSeed}`,
  },
  {
    field: "logprobs",
    effect: "refused",
    applies: (value, _settings, model) => value !== false && !getGeminiTraits(model).reportsLogprobs,
    reason: "the model does not report them",
  },
  {
    field: "parallelToolCalls",
    effect: "ignored",
    applies: (value) => value === false,
    reason: "the model decides",
  },
  {
    field: "cache",
    effect: "ignored",
    applies: (value) => value !== "short",
    reason: "the provider decides how long it keeps a prompt",
  },
];
