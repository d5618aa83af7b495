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

describe("a JSON file", () => {
  it("has nodes and edges, with properties at the top level or in `data`", async () => {
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

  it("may name its edges links, and is directed by default", async () => {
    const path = writeGraphFile(
      "d3.json",
      '{"nodes":[{"id":"a"},{"id":"b"}],"links":[{"source":"a","target":"b"}]}',
    );
    expect(await readGraphFile(path)).toMatchObject({
      isDirected: true,
      title: "d3",
      edges: [{ from: "a", to: "b" }],
    });
  });

  it.each<[text: string, problem: RegExp]>([
    ["{", /bad\.json, .*JSON/],
    ["[]", /bad\.json: the JSON needs a list "nodes" and a list "edges"/],
    ['{"nodes":[]}', /needs a list "nodes" and a list "edges"/],
    ['{"nodes":[{"name":"a"}],"edges":[]}', /nodes\[0\] needs an "id"/],
    ['{"nodes":[{"id":"a"},{"id":"a"}],"edges":[]}', /two nodes or two edges have the id "a"/],
    [
      '{"nodes":[{"id":"a"}],"edges":[{"id":"x","from":"a","to":"a"},{"id":"x","from":"a","to":"a"}]}',
      /have the id "x"/,
    ],
    ['{"nodes":[{"id":"a"}],"edges":[{"from":"a"}]}', /edges\[0\] needs "from" and "to"/],
    [`{"nodes":[{"id":"${"a".repeat(301)}"}],"edges":[]}`, /the id "a{20}…" has more than 300 characters/],
    ['{"nodes":[{"id":"a"}],"edges":[7]}', /edges\[0\] must be an object/],
    ['{"nodes":[{"id":"a"}],"edges":[{"from":"a","to":"b"}]}', /edge "e1" references the unknown node "b"/],
  ])("%s is refused by name and place", async (text, problem) => {
    await expect(readGraphFile(writeGraphFile("bad.json", text))).rejects.toThrow(problem);
  });
});

describe("a CSV file", () => {
  it("lists edges, whose ends become the nodes", async () => {
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

  it("can come with a file of nodes, with semicolons or tabs", async () => {
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

  it.each<[text: string, problem: RegExp]>([
    [
      "a,b\n1,2\n",
      /bad\.csv: the header needs a column "from" or "source" and "to" or "target"; it has a, b/,
    ],
    ["", /it has none/],
    ["from,to\na\n", /bad\.csv, line 2: an edge needs both ends/],
    ["from,to\na,b,c\n", /bad\.csv, line 2: 3 fields, but the header has 2/],
    ['from,to\n"a\nb",c\nd,"e', /bad\.csv, line 4: unclosed quote/],
  ])("%j is refused by name and line", async (text, problem) => {
    await expect(readGraphFile(writeGraphFile("bad.csv", text))).rejects.toThrow(problem);
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
      /\.json, \.csv or \.tsv/,
    );
  });
});
