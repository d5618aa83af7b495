import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { graph } from "../agent.ts";
import { readGraphFile } from "./graph-file.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "graph-file-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

function writeGraphFile(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

it("a JSON file has nodes and edges, with properties at the top level or in `data`", async () => {
  const path = writeGraphFile(
    "plants.json",
    JSON.stringify({
      title: "Plants",
      isDirected: false,
      nodes: [
        { id: 1, type: "tree", age: 9, tags: ["old"], none: null },
        { id: "b", data: { type: "moss" } },
      ],
      edges: [{ source: 1, target: "b", type: "shades" }],
    }),
  );
  expect(await readGraphFile(path)).toEqual({
    name: "file",
    title: "Plants",
    isDirected: false,
    nodes: [
      { id: "1", data: { type: "tree", age: 9, tags: '["old"]' } },
      { id: "b", data: { type: "moss" } },
    ],
    edges: [{ id: "e1", from: "1", to: "b", data: { type: "shades" } }],
  });
});

it("a CSV file lists edges, whose ends become the nodes", async () => {
  const path = writeGraphFile(
    "friends.csv",
    '\uFEFFfrom,to,since,note\r\nAda,Ben,2019,"met, twice"\r\nBen,Cleo,,"said ""hi"""\r\n',
  );
  expect(await readGraphFile(path)).toMatchObject({
    title: "friends",
    nodes: [{ id: "Ada" }, { id: "Ben" }, { id: "Cleo" }],
    edges: [
      { id: "e1", from: "Ada", to: "Ben", data: { since: 2019, note: "met, twice" } },
      { id: "e2", from: "Ben", to: "Cleo", data: { note: 'said "hi"' } },
    ],
  });
});

it("a CSV file can come with one of nodes, with semicolons or tabs", async () => {
  const nodes = writeGraphFile("n.csv", "id;type;age\n1;human;30\n2;cat;\n");
  const edges = writeGraphFile("e.tsv", "source\ttarget\ttype\n1\t2\towns\n");
  expect(await readGraphFile({ nodes, edges })).toMatchObject({
    nodes: [
      { id: "1", data: { type: "human", age: 30 } },
      { id: "2", data: { type: "cat" } },
    ],
    edges: [{ from: "1", to: "2", data: { type: "owns" } }],
  });
});

describe("a file with problems is refused by name and place", () => {
  it.each<[name: string, text: string, problem: RegExp]>([
    ["bad.json", "{", /bad\.json: It is not valid JSON/],
    [
      "bad.json",
      '{"nodes":[{"id":"b"},{"name":"a"}],"edges":[]}',
      /1 node without an id; the first: nodes\[1\]/,
    ],
    [
      "bad.json",
      '{"nodes":[{"id":"a"},{"id":"a"}],"edges":[]}',
      /1 node with the id of another node; the first: "a"/,
    ],
    [
      "bad.json",
      `{"nodes":["${"a".repeat(301)}"],"edges":[]}`,
      /id of more than 300 characters; the first: "a{20}…"/,
    ],
    [
      "bad.json",
      '{"nodes":["a"],"edges":[{"from":"a"},7]}',
      /2 edges without two ends; the first: edges\[0\]/,
    ],
    [
      "bad.json",
      '{"nodes":["a"],"edges":[{"from":"a","to":"b"}]}',
      /1 edge with an end that is not a node; the first: "b"/,
    ],
    ["bad.csv", "a,b,c\n1,2,3\n", /bad\.csv: No columns look like the two ends .* "bad" has a, b, c/],
    ["bad.csv", "", /"bad" has no columns/],
    ["bad.csv", "from,to\na\n", /bad\.csv: 1 edge without two ends; the first: row 1 of "bad"/],
    ["bad.csv", 'from,to\n"a\nb",c\nd,"e', /bad\.csv: .*is not a readable CSV file/],
  ])("%s %j", async (name, text, problem) => {
    await expect(readGraphFile(writeGraphFile(name, text))).rejects.toThrow(problem);
  });
});

describe("the option graphFile", () => {
  it("opens the file first and describes it to the model", async () => {
    const path = writeGraphFile(
      "pair.json",
      '{"nodes":[{"id":"a","type":"star"},{"id":"b","type":"moon"}],"edges":[]}',
    );
    const agent = await graph({ model: "offline/rules", folder, graphFile: path });
    expect(agent.instructions).toContain('Initially "file" is open');
    expect(agent.instructions).toContain("1 star");
    expect([...agent.tools.values()].every(({ reads }) => reads?.includes("private"))).toBe(true);
  });

  it("is refused immediately if it cannot be read", async () => {
    const folderless = { model: "offline/rules", folder };
    await expect(graph({ ...folderless, graphFile: join(folder, "none.json") })).rejects.toThrow(/ENOENT/);
    await expect(graph({ ...folderless, graphFile: writeGraphFile("a.xml", "") })).rejects.toThrow(
      /cannot be read from "\.xml" files/,
    );
  });
});
