import { afterAll, describe, expect, it } from "vitest";
import { createToolHarness } from "../testing/tool-harness.ts";
import { describeProperty } from "./describe-property.ts";
import { getSchema, sampleData } from "./inspect-data.ts";

const { context, call, close } = createToolHarness();
afterAll(close);

describe("sampleData", () => {
  it("returns three nodes with all properties by default (S2-23)", async () => {
    const { data } = await call(sampleData(context));
    expect(data).toMatchObject({
      total: 20,
      nodes: [{ id: "cat1", data: { name: "Whiskers", breed: "tabby" } }, {}, {}],
    });
    expect(await call(sampleData(context), { count: 1 })).toMatchObject({
      message: "Returned 1 node sample.",
      data: { nodes: [{ id: "cat1" }] },
    });
  });

  it("returns edges with the names of their ends (S2-23)", async () => {
    expect((await call(sampleData(context), { target: "edges", count: 1 })).data).toEqual({
      total: 30,
      edges: [{ id: "edge1", from: "Ada", to: "Whiskers", data: { type: "owner_of" } }],
    });
  });

  it("accepts 1 to 1,000", async () => {
    await expect(call(sampleData(context), { count: 0 })).rejects.toThrow(/count/);
    await expect(call(sampleData(context), { count: 1001 })).rejects.toThrow(/count/);
  });
});

describe("getSchema", () => {
  it("lists each type with its properties", async () => {
    expect((await call(getSchema(context))).data).toMatchObject({
      graph: "pets",
      nodeCount: 20,
      edgeCount: 30,
      nodeTypes: expect.arrayContaining([{ type: "cat", count: 3, properties: ["name", "breed", "age"] }]),
      edgeTypes: expect.arrayContaining([{ type: "owner_of", count: 4, properties: [] }]),
    });
  });
});

describe("describeProperty", () => {
  it("counts the values of a text property", async () => {
    const { data } = await call(describeProperty(context), { property: "breed" });
    expect(data).toMatchObject({ has: 3, distinct: 3, values: [{ value: "tabby", count: 1 }, {}, {}] });
  });

  it("returns the range of a numeric property", async () => {
    const { data } = await call(describeProperty(context), { property: "age" });
    expect(data).toMatchObject({ has: 10, smallest: 3, largest: 52, mean: 23.3 });
  });

  it("refuses an unknown property and lists the known ones", async () => {
    const { error } = await call(describeProperty(context), { property: "colour", target: "edges" });
    expect(error).toBe('No edges have the property "colour". Known properties: type.');
  });
});
