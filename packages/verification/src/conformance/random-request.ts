import { effortLevels, type ModelRequest, type ModelSettings, type ToolSpec } from "capstan";
import fc from "fast-check";
import { createRandomHistory, type OwnParts } from "./random-history.ts";
import { randomHosted } from "./random-hosted.ts";
import { randomSchema } from "./random-schema.ts";

const tool: fc.Arbitrary<ToolSpec> = fc.record({
  name: fc.constantFrom("search", "look up", "größe.messen", "n".repeat(90), "read", "x__abcdefghijk"),
  description: fc.string({ unit: "grapheme", maxLength: 40 }),
  input: randomSchema,
});

const stopText = fc.string({ unit: "grapheme", minLength: 1, maxLength: 10 });

/** Every setting of `ModelSettings` except `extra`, which is sent as it is. */
const settings: fc.Arbitrary<Omit<ModelSettings, "toolChoice" | "extra">> = fc.record(
  {
    effort: fc.oneof(fc.constantFrom(...effortLevels), fc.integer({ min: 1, max: 200_000 })),
    temperature: fc.double({ min: 0, max: 2, noNaN: true }),
    topP: fc.double({ min: 0, max: 1, noNaN: true }),
    stop: fc.oneof(stopText, fc.array(stopText, { minLength: 1, maxLength: 6 })),
    seed: fc.integer(),
    maxOutputTokens: fc.integer({ min: 1, max: 60_000 }),
    parallelToolCalls: fc.boolean(),
    serviceTier: fc.constantFrom("auto", "default", "flex", "priority"),
    cache: fc.constantFrom("off" as const, "short" as const, "long" as const),
    logprobs: fc.oneof(fc.boolean(), fc.integer({ min: 0, max: 20 })),
  },
  { requiredKeys: [] },
);

/** Requests as the runtime builds them. A new feature of requests gets a field here. */
export function createRandomRequest(own: OwnParts): fc.Arbitrary<ModelRequest> {
  return fc
    .record(
      {
        instructions: fc.oneof(fc.constant(""), fc.string({ unit: "grapheme", maxLength: 60 })),
        history: createRandomHistory(own),
        tools: fc.uniqueArray(tool, { selector: ({ name }) => name, maxLength: 4 }),
        choice: fc.constantFrom("auto" as const, "required" as const, "none" as const, "named" as const),
        thinking: fc.boolean(),
        settings,
        output: randomSchema,
        hosted: randomHosted,
        maxOutputTokens: fc.constant(32_000),
      },
      { requiredKeys: ["instructions", "history", "tools", "choice", "thinking"] },
    )
    .map(({ choice, ...request }) => ({ ...request, toolChoice: resolveChoice(choice, request.tools) }));
}

/** A choice needs tools. */
function resolveChoice(
  choice: "auto" | "required" | "none" | "named",
  [first]: readonly ToolSpec[],
): ModelRequest["toolChoice"] {
  if (!first) return "none";
  return choice === "named" ? { tool: first.name } : choice;
}
