import type { Effort } from "capstan";
import type { ChatFormat } from "./chat-format.ts";

/** How the answer starts. */
export type ThoughtPlan = {
  readonly mode: "open" | "optional" | "none";
  /** Most tokens of reasoning. */
  readonly budget: number;
  /** Text after the prompt. */
  readonly suffix: string;
};

/** The setting, and what the turn calls for. */
export type ThoughtWish = { readonly effort?: Effort | undefined; readonly thinking: boolean };

const unlimited = Number.POSITIVE_INFINITY;
const budgets = { low: 1024, medium: 4096, high: unlimited, xhigh: unlimited, max: unlimited };

/** Opens, closes or allows the reasoning, if the model's template has any. */
export function planThought({ thought }: ChatFormat, prompt: string, wish: ThoughtWish): ThoughtPlan {
  const { effort, thinking } = wish;
  if (!thought) return { mode: "none", budget: 0, suffix: "" };
  const isOpen = prompt.trimEnd().endsWith(thought.prefix);
  // An empty section is how templates switch the reasoning off.
  if (effort === "none")
    return { mode: "none", budget: 0, suffix: `${isOpen ? "" : thought.prefix}\n\n${thought.suffix}\n\n` };
  const budget = typeof effort === "number" ? effort : budgets[effort ?? "high"];
  if (isOpen) return { mode: "open", budget, suffix: "" };
  if (effort === undefined && !thinking) return { mode: "optional", budget, suffix: "" };
  return { mode: "open", budget, suffix: `${thought.prefix}\n` };
}
