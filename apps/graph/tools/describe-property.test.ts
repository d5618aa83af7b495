import type { Json } from "capstan";
import { afterAll, describe, expect, it } from "vitest";
import { createToolHarness } from "../testing/tool-harness.ts";
import { describeProperty } from "./describe-property.ts";

const { context, call, close } = createToolHarness();
afterAll(close);
const describeFor = (input: Json) => call(describeProperty(context), input);

describe("describeProperty", () => {
  it.each<[statistic: string, data: object]>([
    ["average", { "average age": 5, nodeCount: 3 }],
    ["total", { "total age": 15, nodeCount: 3 }],
    ["minimum", { "minimum age": 3, nodes: [{ id: "cat2", name: "Mittens" }] }],
    ["maximum", { "maximum age": 7, nodes: [{ id: "cat3", name: "Shadow" }] }],
  ])("computes the %s of the nodes of a selector", async (statistic, data) => {
    expect((await describeFor({ property: "Age", selector: "cats", statistic })).data).toEqual(data);
  });

  it("rounds, and covers all nodes without a selector", async () => {
    expect((await describeFor({ property: "age", statistic: "average" })).data).toEqual({
      "average age": 23.3,
      nodeCount: 10,
    });
  });

  it("explains a selection without nodes, and refuses a property without numbers", async () => {
    const nothing = await describeFor({ property: "age", selector: "type == 'dog'", statistic: "average" });
    expect(nothing).toMatchObject({ data: { count: 0, note: 'No node has the name or type "dog".' } });
    expect((await describeFor({ property: "breed", statistic: "average" })).error).toBe(
      'The property "breed" has no numbers.',
    );
    expect((await describeFor({ property: "bred" })).error).toMatch(/Did you mean "breed"\?/);
  });
});
