import type { ModelSettings } from "./settings.ts";

/** A setting that an API cannot follow. */
export type Limit = {
  readonly field: keyof ModelSettings;
  /** `ignored`: the request is sent without it, with a warning. `refused`: its meaning would change, so it fails. */
  readonly effect: "ignored" | "refused";
  /** Default: always. */
  applies?(value: unknown, settings: ModelSettings, model: string): boolean;
  /** Completes "… does not support <field> <value>: ". */
  readonly reason: string;
};

export const levelsOnly: Limit = {
  field: "effort",
  effect: "ignored",
  applies: (value) => typeof value === "number",
  reason: "it has levels instead of token budgets; the nearest level is used",
};
