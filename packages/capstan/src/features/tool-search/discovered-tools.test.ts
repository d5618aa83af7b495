import { expect, it } from "vitest";
import { defineAgent } from "../../kernel/agent.ts";
import { defineTool } from "../../kernel/tool.ts";
import { scriptedModel } from "../../testing/scripted-model.ts";
import { type DiscoveredTools, listDiscovered } from "./discovered-tools.ts";

it("a tool that an earlier version stored with the phrases in its schema is still the same tool", () => {
  const examples = [{ phrase: "refund {payment}" }];
  const input = { type: "object", properties: { payment: { type: "string" } } };
  const tool = defineTool({ name: "refund", description: "Refunds", input, examples });
  const { specs } = defineAgent({ name: "clerk", model: scriptedModel([]), tools: [tool] });
  const current = new Map(specs.map((spec) => [spec.name, spec]));
  const record = (definition: object): { discovered: DiscoveredTools } => {
    const stored = { name: "refund", description: "Refunds", input: { ...input, ...definition } };
    return { discovered: new Map([["clerk", new Map([["refund", stored]])]]) };
  };
  expect(listDiscovered(record({ examples }), "clerk", current)).toEqual(specs);
  expect(listDiscovered(record({}), "clerk", current)).toEqual(specs);
  expect(listDiscovered(record({ required: ["payment"] }), "clerk", current)).toEqual([]);
});
