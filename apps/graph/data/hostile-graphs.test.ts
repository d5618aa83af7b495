import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { AgentError } from "capstan";
import fc from "fast-check";
import { afterAll, describe, expect, it, onTestFinished } from "vitest";
import { readGraph, readTables } from "./read-graph.ts";

const folder = mkdtempSync(join(tmpdir(), "hostile-graphs-"));
afterAll(() => rmSync(folder, { recursive: true }));

function write(name: string, text: string | Uint8Array): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

const buildDeep = (depth: number): string => "[".repeat(depth) + "]".repeat(depth);

describe.each(["graphml", "gexf"])("entities in .%s", (extension) => {
  const wrap = (dtd: string, text: string): string =>
    extension === "graphml"
      ? `<?xml version="1.0"?><!DOCTYPE graphml [${dtd}]><graphml><key id="d0" for="node" attr.name="name" attr.type="string"/><graph edgedefault="directed"><node id="a"><data key="d0">${text}</data></node></graph></graphml>`
      : `<?xml version="1.0"?><!DOCTYPE gexf [${dtd}]><gexf><graph><attributes class="node"><attribute id="0" title="name" type="string"/></attributes><nodes><node id="a" label="${text}"><attvalues><attvalue for="0" value="${text}"/></attvalues></node></nodes></graph></gexf>`;
  const read = (dtd: string, text: string): Promise<string> =>
    readGraph(write(`entities.${extension}`, wrap(dtd, text))).then(JSON.stringify, String);

  it("are not needed to read the graph of this test", async () => {
    expect(await read("", "Gull")).toContain('"name":"Gull"');
  });

  it("cannot read files or addresses (XXE)", async () => {
    const requests: string[] = [];
    const server = createServer((request, response) => {
      requests.push(request.url ?? "");
      response.end("CANARY-7261");
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const secret = write("secret.txt", "CANARY-7261");
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    for (const address of [`file://${secret}`, url]) {
      expect(await read(`<!ENTITY x SYSTEM "${address}">`, "&x;")).not.toContain("CANARY");
      expect(await read(`<!ENTITY % x SYSTEM "${address}"> %x;`, "&x;")).not.toContain("CANARY");
    }
    expect(requests).toEqual([]);
  });

  it("cannot be expanded without end (billion laughs)", async () => {
    const entities = Array.from({ length: 12 }, (_, at) => `<!ENTITY l${at + 1} "${`&l${at};`.repeat(10)}">`);
    const text = await read(`<!ENTITY l0 "ha">${entities.join("")}`, "&l12;");
    expect(text.length).toBeLessThan(1000);
  });
});

describe("a database", () => {
  function createDatabase(name: string, sql: string): string {
    const path = join(folder, name);
    const database = new DatabaseSync(path);
    database.exec(sql);
    database.close();
    return path;
  }

  it("is not changed by its schema, and runs nothing of it: views, triggers, generated columns", async () => {
    const path = createDatabase(
      "hostile.db",
      `CREATE TABLE a (source, target, bomb AS (hex(zeroblob(400000000)))); INSERT INTO a VALUES (1, 2);
       CREATE VIEW b AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n;
       CREATE TRIGGER t AFTER INSERT ON a BEGIN DELETE FROM a; END;
       CREATE VIRTUAL TABLE c USING fts5(text)`,
    );
    const before = readFileSync(path);
    const { network } = await readGraph(path);
    expect(network.edges.map(({ data }) => data)).toEqual([{ type: "a" }]);
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  it("that is damaged anywhere is read, or refused by name", async () => {
    const rows = Array.from({ length: 200 }, (_, at) => `(${at}, ${at + 1}, '${"x".repeat(40)}')`);
    const path = createDatabase(
      "whole.db",
      `PRAGMA page_size = 512; CREATE TABLE links (source, target, note); INSERT INTO links VALUES ${rows.join()}`,
    );
    const whole = readFileSync(path);
    const change = fc.record({ at: fc.nat(whole.length - 1), value: fc.nat(255) });
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 20 }), async (changes) => {
        const bytes = Buffer.from(whole);
        for (const { at, value } of changes) bytes[at] = value;
        const result = await readGraph(write("damaged.db", bytes)).catch((error: unknown) => error);
        if (!(result instanceof Error)) return;
        expect(result).toBeInstanceOf(AgentError);
        expect(result).toMatchObject({ code: expect.stringMatching(/^file_(?:invalid|limit)$/) });
      }),
      { numRuns: 25 },
    );
    await expect(readGraph(write("bad.db", "no database ".repeat(100)))).rejects.toMatchObject({
      code: "file_invalid",
      message: expect.stringContaining("not a database"),
    });
  });
});

describe("hostile files", () => {
  it.each<[name: string, text: string, problem: RegExp]>([
    ["cut.graphml", '<graphml><graph edgedefault="directed"><node id="a"', /./],
    ["other.graphml", "<html><body>Hi</body></html>", /It has no <graph>, so it is not GraphML/],
    ["other.gexf", "Hi", /It has no <graph>, so it is not GEXF/],
    ["broken.json", '{"nodes": [', /It is not valid JSON: /],
    ["deep.json", buildDeep(100_000), /JSON/],
    [
      "deep-property.json",
      `{"nodes":[{"id":"a","x":${buildDeep(100_000)}}],"edges":[]}`,
      /^It is nested too deeply\.$/,
    ],
    [
      "deep-graph.json",
      `${'{"nodes":1,"graph":'.repeat(100_000)}1${"}".repeat(100_000)}`,
      /The JSON has no graph/,
    ],
    ["deep.graphml", `<graphml><graph>${'<node id="a"><graph>'.repeat(20_000)}</graph></graphml>`, /./],
    ["other.json", '{"hello": 1}', /The JSON has no graph\. It needs lists "nodes" and "edges"/],
    ["graph.xyz", "", /A graph cannot be read from "\.xyz" files; known are \.csv, /],
  ])("%s is refused by name", async (name, text, message) => {
    await expect(readGraph(write(name, text))).rejects.toMatchObject({
      code: "file_invalid",
      message: expect.stringMatching(message),
    });
  });

  it("that are pipes or devices do not block", async () => {
    const pipe = join(folder, "pipe.json");
    execFileSync("mkfifo", [pipe]);
    for (const path of [pipe, "/dev/zero"])
      await expect(readTables([path])).rejects.toMatchObject({
        code: "file_invalid",
        message: /is not a regular file/,
      });
    await expect(readGraph(pipe)).rejects.toMatchObject({ message: '"pipe.json" is not a regular file.' });
  });

  it("of 2 GB are refused before they are read", async () => {
    for (const [name, read] of [
      ["huge.csv", (path: string) => readTables([path])],
      ["huge.json", readGraph],
      ["huge.db", readGraph],
    ] as const) {
      truncateSync(write(name, ""), 2_147_483_648);
      await expect(read(join(folder, name))).rejects.toMatchObject({ code: "file_limit" });
    }
  });

  it("with too many nodes are refused with the limit", async () => {
    const nodes = Array.from({ length: 50_001 }, (_, at) => at);
    const path = write("many.json", JSON.stringify({ nodes, edges: [] }));
    await expect(readGraph(path)).rejects.toMatchObject({
      code: "file_limit",
      message: "The graph has more than 50000 nodes.",
    });
  });

  it("with names of built-in properties are ordinary data", async () => {
    const text =
      '{"nodes":[{"id":"__proto__","__proto__":{"polluted":1}},{"id":"constructor"}],"edges":[{"source":"__proto__","target":"constructor"}]}';
    const { network } = await readGraph(write("proto.json", text));
    expect(network.edges).toHaveLength(1);
    expect("polluted" in {}).toBe(false);
  });
});
