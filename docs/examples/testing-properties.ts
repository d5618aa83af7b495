import assert from "node:assert/strict";
import { defineAgent, defineTool, run } from "capstan";
import { collect, scriptedModel } from "capstan/testing";
import fc from "fast-check";

const stack = defineTool({
  name: "stack",
  description: "Stacks boxes",
  input: { boxes: { type: "integer", minimum: 1, maximum: 9, required: true } },
  effects: "state",
  execute({ boxes }) {
    if (boxes > 6) throw new Error("It would fall over.");
    return `${boxes} boxes are stacked.`;
  },
});

// Any response a model may give: valid, out of range, not a number, an unknown tool.
const call = fc.record({
  name: fc.constantFrom("stack", "stack", "stock"),
  input: fc.record({ boxes: fc.oneof(fc.integer({ min: -3, max: 12 }), fc.string(), fc.constant(null)) }),
});
const plan = fc.array(fc.array(call, { minLength: 1, maxLength: 4 }), { maxLength: 4 });

await fc.assert(
  fc.asyncProperty(plan, fc.integer({ min: 1, max: 5 }), async (turns, maxTurns) => {
    const model = scriptedModel([...turns.map((calls) => ({ calls })), { text: "Done." }]);
    const agent = defineAgent({
      name: "docker",
      model,
      tools: [stack],
      policy: { retry: { maxAttempts: 1 } },
    });
    const { facts, result } = await collect(run(agent, "Stack them.", { policy: { maxTurns } }));

    const kinds = facts.map(({ type }) => type);
    assert.equal(kinds.filter((type) => type === "done").length, 1);
    assert.equal(kinds.at(-1), "done");
    assert.ok(result.turns <= maxTurns);
    assert.notEqual(result.text, "");
    // Every call has one result, and nothing out of range was ever stacked.
    for (const call of result.toolCalls)
      if (call.status === "ok" && call.name === "stack") assert.ok(call.input.boxes <= 6);
  }),
  { numRuns: 100 },
);
console.log("100 runs kept their promises");
