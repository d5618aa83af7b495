import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { LoadProgress, LoadRequest } from "@capstan/server";
import { type Agent, run } from "capstan";
import { offline } from "capstan/models";
import { memory } from "capstan/stores/memory";
import { collect } from "capstan/testing";
import { afterAll, describe, expect, it } from "vitest";
import { graphLoader } from "./own-data.ts";

const folder = mkdtempSync(join(tmpdir(), "graph-own-data-"));
afterAll(() => rmSync(folder, { recursive: true }));

function write(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

const loader = graphLoader({ model: offline() });

const load = (locations: readonly string[], request: Partial<LoadRequest> = {}) =>
  loader.load({
    name: "graph-harbor",
    title: "Harbor",
    locations,
    settings: {},
    folder: mkdtempSync(join(folder, "data-")),
    signal: new AbortController().signal,
    onProgress: () => undefined,
    ...request,
  });

const fixture = (name: string): string => join(import.meta.dirname, "data", "fixtures", name);

async function ask(agent: Agent | undefined, ...questions: readonly string[]) {
  if (!agent) throw new Error("There is no agent.");
  const options = { store: memory(), session: "s" };
  const answers: string[] = [];
  const pictures: unknown[] = [];
  for (const question of questions) {
    const { result, events } = await collect(run(agent, question, options));
    answers.push(result.text);
    for (const event of events)
      if (event.type === "tool_call_result" && event.ui) pictures.push(event.ui.props);
  }
  return { answers, picture: pictures.at(-1) };
}

const people = () =>
  write("people.csv", "id,name,role,age\n1,Ida,captain,34\n2,Jon,cook,51\n3,Kim,cook,28\n");
const knows = () => write("knows.csv", "source,target,since\n1,2,2015\n2,3,2020\n");

describe("the graph explorer on own data", () => {
  it("counts and colors the nodes of two CSV files by their own types", async () => {
    const progress: LoadProgress[] = [];
    const { agents, profile, report } = await load(
      [write("crew.csv", "id,name,type,age\n1,Ida,captain,34\n2,Jon,cook,51\n3,Kim,cook,28\n"), knows()],
      {
        onProgress: (step) => void progress.push(step),
      },
    );
    expect(report()).toEqual({ counts: { nodes: 3, edges: 2 }, skipped: [] });
    expect(profile).toMatchObject({ title: "Harbor", description: "3 nodes, 2 edges" });
    expect(profile.suggestions).toContain("Color the cook nodes blue");
    expect(progress).toEqual([
      { done: 0, total: 1, item: "crew.csv, knows.csv" },
      { done: 1, total: 1 },
    ]);
    expect(agents.map(({ name }) => name)).toEqual(["graph-harbor"]);
    const { answers, picture } = await ask(agents[0], "How many nodes are there?", "color the cooks blue");
    expect(answers[0]).toBe("3 nodes.");
    expect(answers[1]).toContain("Jon");
    expect(answers[1]).not.toContain("Ida");
    expect(picture).toMatchObject({
      title: "knows",
      nodes: [{ label: "Ida" }, { label: "Jon", color: "#0000ff" }, { label: "Kim", color: "#0000ff" }],
    });
  });

  it("marks all results as private, and tells the model the types", async () => {
    const { agents } = await load([people(), knows()]);
    const [agent] = agents;
    expect([...(agent?.tools.values() ?? [])].every(({ reads }) => reads?.includes("private"))).toBe(true);
    expect(agent?.instructions).toContain("3 person (name, role, age)");
    expect(agent?.tools.has("openGraph")).toBe(false);
  });

  it("knows its relations and properties, in any case", async () => {
    const { agents } = await load([fixture("networkx.gexf")]);
    const { answers } = await ask(
      agents[0],
      "who sails Gull?",
      "what is the average age of the sailors?",
      "find nodes where AGE > 40",
    );
    expect(answers[0]).toContain("Ida");
    expect(answers[0]).not.toContain("Old Pier");
    expect(answers[1]).toContain("Average age: 42.5.");
    expect(answers[2]).toContain("Jon");
  });

  it("opens several files side by side in one app, each as a graph", async () => {
    const { agents, report } = await load([fixture("networkx.graphml"), fixture("igraph.graphml")]);
    expect(report().counts).toEqual({ graphs: 2, nodes: 8, edges: 6 });
    const { answers } = await ask(
      agents[0],
      "How many nodes are there?",
      "Open the igraph graph",
      "How many nodes are there?",
    );
    expect([answers[0], answers[2]]).toEqual(["5 nodes.", "3 nodes."]);
  });

  it("reads the files of a folder, and lists what it skips and why", async () => {
    const path = join(folder, "export");
    mkdirSync(path);
    writeFileSync(join(path, "links.csv"), "from,to\na,b\na,\n");
    writeFileSync(join(path, "broken.json"), "{");
    writeFileSync(join(path, "readme.txt"), "Hello");
    writeFileSync(join(path, ".hidden.csv"), "from,to\nx,y\n");
    mkdirSync(join(path, "old"));
    symlinkSync(path, join(path, "loop.csv"));
    execFileSync("mkfifo", [join(path, "pipe.csv")]);
    const { report } = await load([path]);
    const { skipped, counts } = report();
    const isEntry = ({ item }: { item: string }) => /^(?:\.hidden|loop|old|pipe)/.test(item);
    expect(
      skipped
        .filter(isEntry)
        .map(({ item, reason }) => `${item}: ${reason}`)
        .sort(),
    ).toEqual([
      ".hidden.csv: Hidden files and folders are not read.",
      "loop.csv: Links are not followed.",
      "old: Folders in the folder are not read.",
      "pipe.csv: It is neither a file nor a folder.",
    ]);
    expect({ counts, skipped: skipped.filter((item) => !isEntry(item)) }).toEqual({
      counts: { nodes: 2, edges: 1 },
      skipped: [
        { item: "readme.txt", reason: '".txt" is not a format of graphs that can be read.' },
        { item: "links.csv", reason: '1 edge without two ends; the first: row 2 of "links".' },
        { item: "broken.json", reason: expect.stringMatching(/^It is not valid JSON/) },
      ],
    });
  });

  it("rejects with the first problem if there is nothing to open", async () => {
    await expect(load([write("x.json", "{")])).rejects.toMatchObject({ code: "file_invalid" });
    await expect(load([write("x.txt", "")])).rejects.toThrow('"Harbor" has no graph.');
    await expect(load([write("x.csv", "name,age,city\na,1,b\n")])).rejects.toThrow(/has name, age, city/);
  });

  it("uses the columns that the user has chosen", async () => {
    const path = write("trips.csv", "driver,car,km\nIda,Volvo,12\nJon,Volvo,30\n");
    const { agents } = await load([path], { settings: { source: "driver", target: "car", directed: false } });
    const { answers } = await ask(agents[0], "What types of nodes are there?", "Find all drivers");
    expect(answers[0]).toMatch(/driver \(count 2\)\n- car \(count 1\)/);
    expect(answers[1]).toContain("Jon");
  });

  it("takes tables by name, also as a list with commas, and columns that are numbers", async () => {
    const path = join(folder, "school.db");
    const database = new DatabaseSync(path);
    database.exec(`CREATE TABLE teachers (id INTEGER PRIMARY KEY, name TEXT);
      CREATE TABLE courses (id INTEGER PRIMARY KEY, title TEXT, teacher_id INTEGER REFERENCES teachers);
      CREATE TABLE logs (id INTEGER PRIMARY KEY, text TEXT);
      INSERT INTO teachers VALUES (1, 'Ms Bell'); INSERT INTO courses VALUES (1, 'Math', 1), (2, 'Art', 1);
      INSERT INTO logs VALUES (1, 'x'), (2, 'y');`);
    database.close();
    for (const tables of ["teachers, courses", ["teachers", "courses"]])
      expect((await load([path], { settings: { tables } })).report().counts).toEqual({ nodes: 3, edges: 2 });
    // Rows with a key are nodes: their two columns are not the ends of an edge.
    await expect(load([path], { settings: { tables: "teachers" } })).rejects.toThrow(
      /No columns look like the two ends of an edge/,
    );
    const years = write("years.csv", "2020,2021,note\nIda,Jon,x\n");
    const { report } = await load([years], { settings: { source: 2020, target: 2021 } });
    expect(report().counts).toEqual({ nodes: 2, edges: 1 });
  });

  it("refuses a setting that means nothing", async () => {
    await expect(load([knows()], { settings: { directed: "yes" } })).rejects.toMatchObject({
      code: "invalid_input",
      message: 'The setting "directed" is true or false, not "yes".',
    });
  });

  it("stops when it is aborted", async () => {
    const signal = AbortSignal.abort(new Error("Enough."));
    await expect(load([fixture("networkx.graphml")], { signal })).rejects.toThrow("Enough.");
  });

  it("shows a part of thousands of nodes, with a note, and colors all of them", async () => {
    const rows = Array.from({ length: 5000 }, (_, at) => `n${at},n${(at * 7) % 5000}`);
    const { agents, report } = await load([write("big.csv", `from,to\n${rows.join("\n")}\n`)]);
    expect(report().counts).toEqual({ nodes: 5000, edges: 5000 });
    const { answers, picture } = await ask(agents[0], "show all nodes", "make them green", "zoom to them");
    for (const answer of answers) expect(answer).toContain("30 of 5000 nodes");
    expect(picture).toMatchObject({
      title: expect.stringMatching(/^big \(\d+ of 5000 nodes, \d+ of 5000 edges\)$/),
    });
  });
});
