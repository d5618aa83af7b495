import { describe, expect, it } from "vitest";
import { z } from "zod";
import { agentTool } from "../features/nested/agent-tool.ts";
import { run } from "../runtime/run.ts";
import { memory } from "../stores/memory.ts";
import { fakeClock, scriptedModel } from "../testing/index.ts";
import { type AgentDefinition, defineAgent } from "./agent.ts";
import { computeAgentVersion, describeVersion } from "./agent-version.ts";
import { joinInstructions, standardInstructions } from "./prompt.ts";
import { defineTool } from "./tool.ts";

const lookDefinition = {
  name: "look",
  description: "Looks",
  effects: "none",
  execute: () => "seen",
} as const;
const look = defineTool({ ...lookDefinition, input: z.object({ place: z.string() }) });
const definition = {
  name: "guide",
  model: scriptedModel([], { id: "test/one" }),
  instructions: "Answer briefly.",
  tools: [look],
  policy: { maxTurns: 3 },
};
const compute = (changes: Partial<AgentDefinition> = {}) =>
  computeAgentVersion(defineAgent({ ...definition, ...changes } as AgentDefinition<string>));

describe("the version of an agent", () => {
  it("is the same for the same definition, whatever object has it", () => {
    expect(compute()).toMatch(/^[0-9a-f]{12}$/);
    expect(compute()).toBe(compute());
    expect(compute()).toBe("b7acdd53ecd6");
  });

  it.each<[string, Partial<AgentDefinition>]>([
    ["its instructions", { instructions: "Answer at length." }],
    ["the source of its instructions", { instructions: () => "Answer briefly." }],
    ["its constraints", { instructions: standardInstructions("A guide", { constraints: "No jokes." }) }],
    ["its model", { model: scriptedModel([], { id: "test/two" }) }],
    ["its tools", { tools: [] }],
    ["a description of a tool", { tools: [{ ...look, description: "Looks far" }] }],
    ["the schema of a tool", { tools: [defineTool({ ...lookDefinition, input: z.object({}) })] }],
    ["the effects of a tool", { tools: [{ ...look, effects: "state" }] }],
    ["its settings", { settings: { temperature: 0 } }],
    ["its policy", { policy: { maxTurns: 4 } }],
    ["its output", { output: z.object({ answer: z.string() }) }],
    ["its handoffs", { handoffs: [defineAgent({ ...definition, name: "expert" })] }],
  ])("changes with %s", (_, changes) => {
    expect(compute(changes)).not.toBe(compute());
  });

  it("tells standard instructions apart by their texts and options, not by the closures", () => {
    const versions = [
      standardInstructions("A guide"),
      standardInstructions("An expert"),
      standardInstructions("A guide", { constraints: "No jokes." }),
      standardInstructions("A guide", { toolFirst: true }),
      joinInstructions(["A guide", standardInstructions("An expert")]),
    ].map((instructions) => compute({ instructions }));
    expect(new Set(versions).size).toBe(versions.length);
    const { instructions } = describeVersion(
      defineAgent({
        ...definition,
        instructions: standardInstructions("A guide", { constraints: "No jokes." }),
      }),
    );
    expect(instructions).toBe(
      "[date]\n\nA guide\n\n[rules for tools]\n\n[tools]\n\nConstraints:\nNo jokes.\n\n[how to cite]",
    );
  });

  it("is recorded by every run, also by a nested one", async () => {
    const helper = defineAgent({ name: "helper", model: scriptedModel([{ text: "Here." }]) });
    const agent = defineAgent({
      name: "guide",
      model: scriptedModel([{ calls: [{ name: "helper", input: { prompt: "Help" } }] }, { text: "Done." }]),
      tools: [agentTool(helper, { description: "Helps" })],
    });
    const store = memory();
    await run(agent, "Go", { store, session: "s", clock: fakeClock() });
    const starts = (await store.read("s")).filter((fact) => fact.type === "run_start");
    expect(starts.map(({ agentVersion }) => agentVersion)).toEqual([
      computeAgentVersion(agent),
      computeAgentVersion(helper),
    ]);
  });
});
