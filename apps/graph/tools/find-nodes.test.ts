import { afterAll, describe, expect, it } from "vitest";
import { findType } from "../match-nodes.ts";
import { createToolHarness } from "../testing/tool-harness.ts";
import { findNodes } from "./find-nodes.ts";

const { context, call, getPicture, close } = createToolHarness();
afterAll(close);
const tool = findNodes(context);

describe("findNodes", () => {
  it("returns ids, names and count, and highlights the nodes (S2-24, S2-25)", async () => {
    const { data } = await call(tool, { selector: "type == 'cat' and age > 4" });
    expect(data).toEqual({
      count: 2,
      nodes: [
        { id: "cat1", name: "Whiskers" },
        { id: "cat3", name: "Shadow" },
      ],
      nodeIds: ["cat1", "cat3"],
    });
    expect((await getPicture(tool, { selector: "breed contains 'persian'" })).flash).toEqual(["cat2"]);
  });

  it("knows types and properties by other common words, unless the graph has a type of that name", async () => {
    expect((await call(tool, { selector: "type == 'people' and age > 40" })).data).toMatchObject({
      nodeIds: ["human2", "human7"],
    });
    expect((await call(tool, { selector: "people" })).data).toMatchObject({ count: 7 });
    expect((await call(tool, { selector: "cost > 10" })).data).toMatchObject({ nodeIds: ["toy4"] });
    const nodes = ["human", "person"].map((type) => ({ id: type, data: { type } }));
    expect(findType(nodes, "people")).toBe("person");
    expect(findType(nodes, "humans")).toBe("human");
  });

  it("searches only among given nodes", async () => {
    const input = { selector: "rooms >= 5", nodeIds: ["house1", "house2"] };
    expect((await call(tool, input)).data).toMatchObject({ nodeIds: ["house2"] });
  });

  it("supports id and degree in selectors", async () => {
    expect((await call(tool, { selector: "degree > 5" })).data).toMatchObject({
      nodeIds: ["cat1", "cat3"],
    });
    expect((await call(tool, { selector: "id == 'toy4'" })).data).toMatchObject({
      nodes: [{ id: "toy4", name: "Scratching Post" }],
    });
  });

  it("succeeds without a match, and lists and suggests the existing types (S2-26)", async () => {
    const result = await call(tool, { selector: "type == 'dog'" });
    expect(result.error).toBeUndefined();
    expect(result.data).toMatchObject({
      nodeIds: [],
      count: 0,
      types: expect.arrayContaining([{ type: "cat", count: 3 }]),
    });
    expect(JSON.parse(String(result.content))).toMatchObject({ success: true });
    expect((await getPicture(tool, { selector: "type == 'dog'" })).replies).toContain("yes, the cats");
  });

  it("does not suggest a type that would not fit on a button", async () => {
    const types = ["cat", "x".repeat(61), "two\nlines"];
    const nodes = [...types.map((type, n) => ({ id: `n${n}`, data: { type } })), { id: "bare", data: {} }];
    const odd = createToolHarness({
      graphs: { odd: () => ({ name: "odd", title: "Odd", isDirected: false, nodes, edges: [] }) },
    });
    const { replies } = await odd.getPicture(findNodes(odd.context), { selector: "type == 'dog'" });
    odd.close();
    expect(replies).toEqual(["yes, the cats"]);
  });

  it("refuses an unknown property and lists the known ones (S2-25)", async () => {
    expect(await call(tool, { selector: "bred == 'tabby'" })).toMatchObject({
      error: expect.stringMatching(
        /No node has the property "bred". Did you mean "breed"\? Known properties: type, name/,
      ),
    });
  });

  it("reports the position of a syntax error (S2-25, S2-55)", async () => {
    const result = await call(tool, { selector: "type = 'cat'" });
    expect(result.error).toContain("at position 6");
    expect(JSON.parse(String(result.content))).toEqual({ success: false, message: result.error });
  });

  it.each([
    ["Whiskers", ["cat1"]],
    ["whiskers and mittens", ["cat1", "cat2"]],
    ["Whiskers, the toys and Old Mill", ["cat1", "toy1", "toy2", "toy3", "toy4", "house4"]],
    ["cats", ["cat1", "cat2", "cat3"]],
    ["cat2", ["cat2"]],
    ["maple", ["house1"]],
    ["type == 'Shadow'", ["cat3"]],
  ])("accepts names and types as plain text: %s", async (selector, nodeIds) => {
    expect((await call(tool, { selector })).data).toMatchObject({ nodeIds });
  });

  it("accepts everything for all nodes", async () => {
    expect((await call(tool, { selector: "everything" })).data).toMatchObject({ count: 20 });
  });

  it.each([
    "Rex",
    "Whiskers and Rex",
    "most connections",
    "e",
  ])("reports in plain language that nothing matches: %s", async (selector) => {
    const { message, data, error } = await call(tool, { selector });
    expect(error).toBeUndefined();
    expect(message).toMatch(`No node has the name or type "${selector}". Node types in `);
    expect(data).toMatchObject({ count: 0, note: `No node has the name or type "${selector}".` });
  });

  it("starts a syntax error with a plain sentence", async () => {
    expect((await call(tool, { selector: "type = 'cat'" })).error).toMatch(/^The selector is unclear\. /);
  });
});
