import { defineAgent, defineTool, type Event, type Result, run } from "capstan";
import { type ScriptedStep, scriptedModel } from "capstan/testing";
import fc from "fast-check";

export type RandomRun = { readonly events: readonly Event[]; readonly result: Result };

const words = fc.string({ unit: "grapheme", maxLength: 40 });
/** Includes text that looks like protocol framing. */
const text = fc.oneof(
  words,
  fc.constantFrom(
    "data: [DONE]\n\n",
    "event: done\ndata: {}\n\n",
    '{"type":"RUN_FINISHED"}',
    "\u2028\u2029\r\n",
    '0:"x"\n',
  ),
);
const call = fc.record({
  name: fc.constantFrom("look_up", "fail", "ask_other", "unknown"),
  input: fc.dictionary(fc.constantFrom("a", "b", "prompt"), text, { maxKeys: 3 }),
});
const step: fc.Arbitrary<ScriptedStep> = fc.oneof(
  fc.record({ text, calls: fc.array(call, { minLength: 1, maxLength: 3 }) }),
  // Without visible text, the model would be called again; tests of restarted messages do that.
  fc.record({ reasoning: text, text: words.map((said) => (said.trim() === "" ? "Done." : said)) }),
);

/** Random model output for the turns of one run. */
export const randomScript: fc.Arbitrary<readonly ScriptedStep[]> = fc
  .array(step, { maxLength: 4 })
  .map((steps) => [...steps, { text: "That is all." }]);

/** Runs a script in memory, with tools that succeed and fail. */
export async function runRandomScript(script: readonly ScriptedStep[]): Promise<RandomRun> {
  const input = { type: "object" } as const;
  const look = defineTool({
    ...{ name: "look_up", description: "Looks something up", input, effects: "none" },
    execute: (given) => ({ content: `found ${JSON.stringify(given)}`, data: given }),
  });
  const fail = defineTool({
    ...{ name: "fail", description: "Fails", input, effects: "none" },
    execute: () => ({ error: { code: "tool_failed", message: "It failed.", retryable: false } }),
  });
  const agent = defineAgent({ name: "helper", model: scriptedModel([...script]), tools: [look, fail] });
  const events: Event[] = [];
  const handle = run(agent, "Go.", { hooks: { onEvent: (event) => void events.push(event) } });
  return { result: await handle, events };
}
