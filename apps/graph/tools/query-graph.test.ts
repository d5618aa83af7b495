import { afterAll, describe, expect, it } from "vitest";
import { createToolHarness } from "../testing/tool-harness.ts";
import { queryGraph } from "./query-graph.ts";

const { context, call, getPicture, close } = createToolHarness();
afterAll(close);
const tool = queryGraph(context);

describe("queryGraph", () => {
  it.each<[query: string, message: string, data: object]>([
    ["nodeCount", "The graph has 20 nodes.", { nodeCount: 20 }],
    ["edgeCount", "The graph has 30 edges.", { edgeCount: 30 }],
  ])("answers %s with a message and the number (S2-22)", async (query, message, data) => {
    expect(await call(tool, { query })).toMatchObject({ message, data });
  });

  it("lists the types, most frequent first", async () => {
    const { data } = await call(tool, { query: "types" });
    expect(data).toMatchObject({
      types: [{ type: "human", count: 7 }, {}, {}, { type: "cat", count: 3 }, {}],
    });
    const edges = await call(tool, { query: "edgeTypes" });
    expect(edges.data).toMatchObject({ edgeTypes: [{ type: "lives_in", count: 10 }, {}, {}, {}, {}] });
  });

  it("summarizes the graph", async () => {
    expect((await call(tool, { query: "summary" })).data).toMatchObject({ nodeCount: 20, edgeCount: 30 });
  });

  it("finds a node by id, by name ignoring case, or by a part of the name", async () => {
    const degree = { id: "cat3", name: "Shadow", degree: 7, outgoing: 5, incoming: 2 };
    for (const node of ["cat3", "shadow", "hado"])
      expect((await call(tool, { query: "degree", node })).data).toEqual(degree);
  });

  it("lists only the neighbors of a relation and direction, and the kinds if there are none", async () => {
    const find = async (input: { readonly [name: string]: string }) =>
      (await call(tool, { query: "neighbours", ...input })).data;
    expect(await find({ node: "Mittens", relation: "owns", direction: "incoming" })).toMatchObject({
      neighbours: [{ name: "Ben", by: "owner_of" }],
    });
    expect(await find({ node: "Ada", direction: "outgoing", relation: "friend" })).toMatchObject({
      neighbours: [{ name: "Ben" }, { name: "Eva" }],
    });
    expect(await find({ node: "Mittens", relation: "owns", direction: "outgoing" })).toMatchObject({
      note: 'No connection of the kind "owns" is recorded for "Mittens".',
      neighbours: [],
      knownKinds: expect.arrayContaining(["owner of"]),
    });
  });

  it("lists the neighbors of a node and how they are connected, and highlights the node", async () => {
    const { data } = await call(tool, { query: "neighbours", node: "Grace" });
    expect(data).toEqual({
      node: "Grace",
      neighbours: [
        { id: "house4", name: "Old Mill", type: "house", by: "lives_in" },
        { id: "human3", name: "Chloe", type: "human", by: "friend_of" },
        { id: "human6", name: "Finn", type: "human", by: "friend_of" },
      ],
    });
    expect((await getPicture(tool, { query: "neighbours", node: "Grace" })).flash).toEqual(["human7"]);
  });

  it("lists what all nodes of a type are connected to, once each", async () => {
    const { data } = await call(tool, {
      query: "neighbours",
      node: "cats",
      relation: "eat",
      direction: "outgoing",
    });
    expect(data).toMatchObject({ neighbours: [{ name: "Tuna", by: "fed_with" }, { name: "Kibble" }] });
  });

  it("lists the nodes that share a neighbor", async () => {
    const { data } = await call(tool, { query: "shared", node: "Ben", relation: "lives" });
    expect(data).toMatchObject({ neighbours: [{ name: "Mittens" }, { name: "Finn" }] });
  });

  it("tells whether two nodes are connected, by any edge or by one kind", async () => {
    const find = async (input: { readonly [name: string]: string }) =>
      (await call(tool, { query: "connection", ...input })).message;
    expect(await find({ node: "Eva", other: "Finn", relation: "know" })).toBe("Yes: Eva – friend of – Finn.");
    expect(await find({ node: "Finn", other: "Eva" })).toBe("Yes: Eva – friend of – Finn.");
    expect(await find({ node: "Eva", other: "Finn", relation: "owns" })).toBe(
      'No connection of the kind "owns" between "Eva" and "Finn" is recorded.',
    );
    expect(await call(tool, { query: "connection", node: "Eva" })).toMatchObject({
      error: '"connection" needs two nodes: node and other.',
    });
  });

  it("returns one property of a node, or says that it is not recorded", async () => {
    const find = async (property: string) => call(tool, { query: "node", node: "Ada", property });
    expect((await find("job")).data).toEqual({ nodes: [{ id: "human1", name: "Ada", job: "baker" }] });
    expect((await find("phone number")).message).toBe('No "phone number" is recorded for "Ada".');
  });

  it("suggests the name that a word resembles, but not for short words", async () => {
    expect(await call(tool, { query: "node", node: "Wiskers" })).toMatchObject({
      error: 'No node has the name or type "Wiskers". Did you mean "Whiskers"?',
    });
    expect((await call(tool, { query: "node", node: "dog" })).error).toBeUndefined();
  });

  it("reports a missing, unknown or ambiguous node", async () => {
    expect(await call(tool, { query: "degree" })).toMatchObject({ error: '"degree" needs a node.' });
    expect(await call(tool, { query: "degree", node: "Wiskers" })).toMatchObject({
      error: expect.stringContaining('Did you mean "Whiskers"?'),
      retryable: false,
    });
    expect(await call(tool, { query: "degree", node: "House" })).toMatchObject({
      data: { name: "Hill House" },
    });
    expect(await call(tool, { query: "degree", node: "il" })).toMatchObject({
      error: expect.stringContaining("Hill House, Old Mill"),
    });
  });

  it("describes one node with all properties", async () => {
    expect(await call(tool, { query: "node", node: "whiskers" })).toMatchObject({
      message: "Whiskers: cat, breed tabby, age 5, 6 connections.",
      data: { name: "Whiskers", breed: "tabby", age: 5, connections: 6 },
    });
  });

  it("describes all nodes of a type, and reports an unknown name", async () => {
    expect((await call(tool, { query: "node", node: "the cats" })).data).toMatchObject({
      nodes: [{ name: "Whiskers", age: 5 }, { name: "Mittens" }, { name: "Shadow" }],
    });
    const missing = await call(tool, { query: "node", node: "Rex" });
    expect(missing.error).toBeUndefined();
    expect(missing.message).toMatch(/^No node has the name or type "Rex"\. Node types in /);
  });
});
