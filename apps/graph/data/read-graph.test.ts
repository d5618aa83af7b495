import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, describe, expect, it } from "vitest";
import { countTypes, getName, type Network } from "../network.ts";
import { type ReadSettings, readGraph, readTables } from "./read-graph.ts";

const folder = mkdtempSync(join(tmpdir(), "read-graph-"));
afterAll(() => rmSync(folder, { recursive: true }));

function write(name: string, text: string | Uint8Array): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

const fixture = (name: string): string => join(import.meta.dirname, "fixtures", name);
const listTypes = ({ nodes }: Network) => countTypes(nodes).map(({ type, count }) => `${count} ${type}`);
const listEdges = ({ nodes, edges }: Network): string[] => {
  const names = new Map(nodes.map((node) => [node.id, getName(node)]));
  return edges.map(({ from, to, data }) => `${names.get(from)} ${data.type ?? "-"} ${names.get(to)}`);
};

describe("graphs that other programs wrote", () => {
  it.each(["networkx.graphml", "networkx.gexf", "networkx.json"])("%s", async (name) => {
    const { network, problems } = await readGraph(fixture(name));
    expect(problems).toEqual([]);
    expect(network.isDirected).toBe(true);
    expect(listTypes(network)).toEqual(["2 boat", "2 sailor", "1 berth"]);
    expect(network.nodes[0]).toMatchObject({ id: "b1", data: { name: "Gull", length: 9.5, moored: true } });
    expect(listEdges(network).sort()).toEqual([
      "Gull lies_at Old Pier",
      "Ida knows Jon",
      "Ida sails Gull",
      "Jon sails Tern",
    ]);
    expect(network.edges.map(({ data }) => data.since).sort()).toEqual([2008, 2015, 2019, 2020]);
  });

  it("networkx-multigraph.graphml, with several edges between two nodes and one to itself", async () => {
    const { network, problems } = await readGraph(fixture("networkx-multigraph.graphml"));
    expect(problems).toEqual([]);
    expect(network.edges.map(({ id, from, to, data }) => [id, from, to, data.type])).toEqual([
      ["e1", "a", "b", "x"],
      ["e2", "a", "b", "y"],
      ["e3", "b", "b", undefined],
    ]);
  });

  it("does not mistake the name of a node for an attribute", async () => {
    const edge = `<edge source='my id="5"' target='type="x" id=' id="7"/>`;
    const text = `<graphml><graph edgedefault="directed">${edge}</graph></graphml>`;
    const { network } = await readGraph(write("names.graphml", text));
    expect(network.nodes.map(({ id }) => id)).toEqual(['my id="5"', 'type="x" id=']);
  });

  it("keeps an infinite number as text, because answers are JSON", async () => {
    const key = '<key id="w" for="edge" attr.name="weight" attr.type="double"/>';
    const edge = '<edge source="a" target="a"><data key="w">Infinity</data></edge>';
    const text = `<graphml>${key}<graph edgedefault="directed"><node id="a"/>${edge}</graph></graphml>`;
    const { network } = await readGraph(write("infinite.graphml", text));
    expect(network.edges[0]?.data.weight).toBe("Infinity");
  });

  it("igraph.graphml, undirected, with a kind and a relation instead of types", async () => {
    const { network } = await readGraph(fixture("igraph.graphml"));
    expect(network.isDirected).toBe(false);
    expect(listTypes(network)).toEqual(["2 sailor", "1 cook"]);
    expect(listEdges(network)).toEqual(["Ida knows Jon", "Jon feeds Kim"]);
    expect(network.nodes[2]?.data.age).toBe(28);
  });
});

describe("JSON", () => {
  const ends = { source: "a", target: "b" };
  it.each<[form: string, value: unknown]>([
    ["nodes and edges", { nodes: [{ id: "a" }, { id: "b" }], edges: [{ from: "a", to: "b" }] }],
    ["d3", { nodes: [{ id: "a", group: 1 }, { id: "b" }], links: [{ source: "a", target: "b", value: 1 }] }],
    [
      "d3 after its layout",
      { nodes: [{ id: "a" }, { id: "b" }], links: [{ source: { id: "a" }, target: { id: "b" } }] },
    ],
    [
      "Cytoscape",
      { elements: { nodes: [{ data: { id: "a" } }, { data: { id: "b" } }], edges: [{ data: ends }] } },
    ],
    ["a list of Cytoscape's elements", [{ data: { id: "a" } }, { data: { id: "b" } }, { data: ends }]],
    [
      "graphology",
      { options: { type: "directed" }, nodes: [{ key: "a" }, { key: "b" }], edges: [{ key: "x", ...ends }] },
    ],
    ["JSON Graph Format", { graph: { nodes: { a: {}, b: {} }, edges: [ends] } }],
    ["plain ids", { nodes: ["a", "b"], edges: [ends] }],
    ["neighbors by node", { a: ["b"], b: [] }],
    ["a list of records", [ends]],
  ])("of the form of %s", async (_, value) => {
    const { network, problems } = await readGraph(write("form.json", JSON.stringify(value)));
    expect(problems).toEqual([]);
    expect(network.nodes.map(({ id }) => id)).toEqual(["a", "b"]);
    expect(network.edges.map(({ from, to }) => [from, to])).toEqual([["a", "b"]]);
  });

  it("of old d3 files links by position", async () => {
    const value = {
      nodes: [
        { name: "Ida", group: 1 },
        { name: "Jon", group: 2 },
      ],
      links: [{ source: 1, target: 0 }],
    };
    const { network } = await readGraph(write("old.json", JSON.stringify(value)));
    expect(listEdges(network)).toEqual(["Jon - Ida"]);
    expect(listTypes(network)).toEqual(["1 group 1", "1 group 2"]);
  });

  it("keeps nested properties of graphology and Cytoscape", async () => {
    const value = { nodes: [{ key: "a", attributes: { label: "Ada", age: 5, tags: ["x"] } }], edges: [] };
    const { network } = await readGraph(write("nested.json", JSON.stringify(value)));
    expect(network.nodes[0]).toEqual({
      id: "a",
      data: { label: "Ada", age: 5, tags: '["x"]', type: "node", name: "Ada" },
    });
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

  it("has rows as nodes and foreign keys as edges; a table that joins two others is a kind of edge", async () => {
    const path = createDatabase(
      "school.db",
      `CREATE TABLE teachers (id INTEGER PRIMARY KEY, name TEXT, photo BLOB);
       CREATE TABLE courses (id INTEGER PRIMARY KEY, title TEXT, type TEXT, teacher INTEGER REFERENCES teachers);
       CREATE TABLE students (id INTEGER PRIMARY KEY, name TEXT, age INTEGER);
       CREATE TABLE visits (student_id INTEGER REFERENCES students, course_id INTEGER REFERENCES courses, grade REAL);
       INSERT INTO teachers VALUES (1, 'Ms Bell', x'ff00');
       INSERT INTO courses VALUES (1, 'Math', 'hard', 1), (2, 'Art', NULL, NULL);
       INSERT INTO students VALUES (1, 'Ida', 15), (2, 'Jon', 16);
       INSERT INTO visits VALUES (1, 1, 1.5), (2, 1, 2), (2, 2, 1);`,
    );
    const { network, problems } = await readGraph(path);
    expect(problems).toEqual([]);
    expect(listTypes(network).sort()).toEqual(["1 teacher", "2 course", "2 student"]);
    expect(listEdges(network).sort()).toEqual([
      "Ida visits Math",
      "Jon visits Art",
      "Jon visits Math",
      "Math teacher Ms Bell",
    ]);
    expect(network.nodes.find(({ id }) => id === "courses:1")?.data).toEqual({
      title: "Math",
      course_type: "hard",
      type: "course",
      name: "Math",
    });
    const some = await readGraph(path, { settings: { tables: ["courses", "teachers"] } });
    expect(listTypes(some.network).sort()).toEqual(["1 teacher", "2 course"]);
    await expect(readGraph(path, { settings: { tables: ["pupils"] } })).rejects.toMatchObject({
      code: "file_invalid",
      message: 'There is no table "pupils". The tables are: teachers, courses, students, visits.',
    });
  });

  it("with nodes and edges needs no keys, and large numbers keep their digits", async () => {
    const path = createDatabase(
      "plain.sqlite",
      `CREATE TABLE nodes (id, name, kind); CREATE TABLE edges (source, target);
       INSERT INTO nodes VALUES (9007199254740993, 'Ida', 'sailor'), (2, 'Jon', 'cook');
       INSERT INTO edges VALUES (9007199254740993, 2);`,
    );
    const { network } = await readGraph(path);
    expect(network.nodes.map(({ id }) => id)).toEqual(["9007199254740993", "2"]);
    expect(listEdges(network)).toEqual(["Ida - Jon"]);
  });
});

describe("tables", () => {
  const readCsvs = (files: Readonly<Record<string, string>>, settings?: ReadSettings) =>
    readTables(
      Object.entries(files).map(([name, text]) => write(name, text)),
      settings ? { settings } : {},
    );

  it("of one kind guess the two ends from common names of columns", async () => {
    for (const header of ["source,target", "From,To", "src_id,dst_id", ":START_ID,:END_ID", "parent,child"]) {
      const { network } = await readCsvs({ "links.csv": `id,${header},type\n7,Ida,Jon,knows\n` });
      expect(listEdges(network)).toEqual(["Ida knows Jon"]);
    }
  });

  it("can have chosen columns, whose names are the types of the nodes", async () => {
    const files = { "jobs.csv": "person;city;company;since\nIda;Oslo;Acme;2019\nJon;Bergen;Acme;2020\n" };
    const { network } = await readCsvs(files, { source: "person", target: "company" });
    expect(listTypes(network)).toEqual(["2 person", "1 company"]);
    expect(listEdges(network)).toEqual(["Ida jobs Acme", "Jon jobs Acme"]);
    expect(network.edges[0]?.data).toEqual({ city: "Oslo", since: 2019, type: "jobs" });
  });

  it("list their columns if the ends cannot be guessed, or if a chosen column does not exist", async () => {
    const files = { "people.csv": "name,age,city\nIda,5,Oslo\n" };
    await expect(readCsvs(files)).rejects.toMatchObject({
      code: "file_invalid",
      message:
        'No columns look like the two ends of an edge. Choose them with the settings "source" and "target". The table "people" has name, age, city.',
    });
    await expect(readCsvs(files, { source: "nam", target: "city" })).rejects.toThrow(
      /There is no column "nam"\. Did you mean "name"\?/,
    );
  });

  it("of nodes are matched with the column that the edges refer to", async () => {
    const { network, problems } = await readCsvs({
      "people.csv": "nr,Name,Job,Zip\n1,Ida,sailor,0150\n2,Jon,cook,5003\n",
      "edges.csv": "from,to\nIda,Jon\nIda,Kim\n,Jon\n",
    });
    expect(network.nodes[0]).toEqual({
      id: "Ida",
      data: { nr: 1, name: "Ida", Job: "sailor", Zip: "0150", type: "person" },
    });
    expect(network.edges).toHaveLength(1);
    expect(problems).toEqual([
      '1 edge without two ends; the first: row 3 of "edges".',
      '1 edge with an end that is not a node; the first: "Kim".',
    ]);
  });

  it("that refer to each other by id become types of nodes", async () => {
    const { network } = await readCsvs({
      "companies.csv": "id,name\n1,Acme\n",
      "people.csv": "id,name,company_id\n1,Ida,1\n2,Jon,\n",
    });
    expect(listTypes(network)).toEqual(["2 person", "1 company"]);
    expect(listEdges(network)).toEqual(["Ida company Acme"]);
  });
});
