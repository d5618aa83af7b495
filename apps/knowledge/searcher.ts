import { type Agent, defineAgent, type Model, type PolicyOverrides, type Tool } from "capstan";
import { buildInstructions } from "./instructions.ts";
import type { Library } from "./library/library.ts";
import { fallBack } from "./tools/fall-back.ts";

/**
 * Requires a search first, except for small talk and arithmetic, keeps tools in every turn, and falls back to a wider
 * search at the limit.
 */
export const policy: PolicyOverrides = {
  maxTurns: 10,
  wrapUpAt: 0,
  finalTurn: "keep-tools",
  onLimit: ["fallback-tool", "best-effort"],
  toolExecution: "parallel",
  retry: { maxAttempts: 1 },
  onAllToolsFailed: "continue",
  maxToolResultSize: 16_000,
  memory: "session",
  requireToolFirst: "auto",
  summaries: true,
};

export type SearcherContext = {
  readonly model: Model | string;
  readonly summaryModel: Model | string;
  readonly library: Library;
};

export type SearcherOptions = Parameters<typeof buildInstructions>[0] & {
  readonly name: string;
  readonly tools: readonly Tool[];
  readonly handoffs?: readonly Agent[];
};

/** Creates agents with the settings that all agents of a library share. */
export function createSearcherFactory({
  model,
  summaryModel,
  library,
}: SearcherContext): (options: SearcherOptions) => Agent {
  return ({ name, tools, handoffs = [], ...prompt }) =>
    defineAgent({
      name,
      model,
      models: { summary: summaryModel },
      instructions: buildInstructions(prompt),
      tools,
      handoffs,
      fallbackTool: fallBack(library),
      policy,
    });
}
