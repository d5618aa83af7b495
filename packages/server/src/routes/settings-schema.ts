import { effortLevels } from "capstan";
import { z } from "zod";

const tokens = z.int().min(1).max(1_000_000_000);
const text = z.string().min(1).max(1000);

/** The settings of a run. */
export const settings: z.ZodType = z
  .strictObject({
    effort: z
      .union([z.enum(effortLevels), tokens])
      .describe("How much the model reasons: a level, or a budget in tokens."),
    temperature: z.number().min(0).max(2),
    topP: z.number().min(0).max(1),
    stop: z.union([text, z.array(text).min(1).max(16)]).describe("Texts at which the model stops."),
    seed: z.int(),
    maxOutputTokens: tokens.describe("Maximum tokens of one answer."),
    toolChoice: z
      .union([z.enum(["auto", "required", "none"]), z.strictObject({ tool: text })])
      .describe("`required` and a tool apply until a call, or a call of this tool, was made."),
    parallelToolCalls: z.boolean(),
    serviceTier: text.describe("Other tiers than `auto`, `default` and `flex` require an admin key."),
    cache: z.enum(["off", "short", "long"]).describe("How long the provider keeps the prompt."),
    logprobs: z.union([z.boolean(), z.int().min(0).max(20)]),
    extra: z
      .record(z.string(), z.unknown())
      .describe("Copied into the provider's request. Requires an admin key."),
  })
  .partial()
  .describe("What to ask of the model. Takes precedence over the agent's settings.");
