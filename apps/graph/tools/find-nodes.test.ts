import { afterAll, describe, expect, it } from "vitest";
import { findNodes } from "./find-nodes.ts";
import { trial } from "./trial.ts";

const { desk, call, picture, end } = trial();
afterAll(end);
const tool = findNodes(desk);

describe("findNodes", () => {
  it("gives ids, names and their count, and shows them (S2-24, S2-25)", async () => {
    const { data } = await call(tool, { selector: "type == 'cat' and age > 4" });
    expect(data).toEqual({
      count: 2,
      nodes: [
        { id: "cat1", name: "Whiskers" },
        { id: "cat3", name: "Shadow" },
      ],
      nodeIds: ["cat1", "cat3"],
    });
    expect((await picture(tool, { selector: "breed contains 'persian'" })).flash).toEqual(["cat2"]);
  });

  it("may ask for the id and the degree", async () => {
    expect((await call(tool, { selector: "degree > 5" })).data).toMatchObject({
      nodeIds: ["cat1", "cat3"],
    });
    expect((await call(tool, { selector: "id == 'toy4'" })).data).toMatchObject({
      nodes: [{ id: "toy4", name: "Scratching Post" }],
    });
  });

  it("finding nothing is a success that tells which types exist and offers them (S2-26)", async () => {
    const result = await call(tool, { selector: "type == 'dog'" });
    expect(result.error).toBeUndefined();
    expect(result.data).toMatchObject({
      nodeIds: [],
      count: 0,
      types: expect.arrayContaining([{ type: "cat", count: 3 }]),
    });
    expect(JSON.parse(String(result.content))).toMatchObject({ success: true });
    expect((await picture(tool, { selector: "type == 'dog'" })).replies).toContain("yes, the cats");
  });

  it("offers no type that would not fit on a button", async () => {
    const types = ["cat", "x".repeat(61), "two\nlines"];
    const nodes = [...types.map((type, n) => ({ id: `n${n}`, data: { type } })), { id: "bare", data: {} }];
    const odd = trial({
      graphs: { odd: () => ({ name: "odd", title: "Odd", isDirected: false, nodes, edges: [] }) },
    });
    const { replies } = await odd.picture(findNodes(odd.desk), { selector: "type == 'dog'" });
    odd.end();
    expect(replies).toEqual(["yes, the cats"]);
  });

  it("refuses a property that no node has, and says which there are (S2-25)", async () => {
    expect(await call(tool, { selector: "bred == 'tabby'" })).toMatchObject({
      error: expect.stringMatching(
        /No node has the property "bred". Did you mean "breed"\? There are: type, name/,
      ),
    });
  });

  it("tells the place of a mistake in the selector (S2-25, S2-55)", async () => {
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
  ])("takes names and types in plain words: %s", async (selector, nodeIds) => {
    expect((await call(tool, { selector })).data).toMatchObject({ nodeIds });
  });

  it("takes everything for all nodes", async () => {
    expect((await call(tool, { selector: "everything" })).data).toMatchObject({ count: 20 });
  });

  it.each([
    "Rex",
    "Whiskers and Rex",
    "most connections",
    "e",
  ])("says in plain words that nothing is called so: %s", async (selector) => {
    const { message, data, error } = await call(tool, { selector });
    expect(error).toBeUndefined();
    expect(message).toMatch(`No nodes are called or typed "${selector}". The types of nodes in `);
    expect(data).toMatchObject({ count: 0, note: `No nodes are called or typed "${selector}".` });
  });

  it("begins what it says about a mistake in a selector with words for people", async () => {
    expect((await call(tool, { selector: "type = 'cat'" })).error).toMatch(
      /^It is not clear what is meant\. /,
    );
  });
});
