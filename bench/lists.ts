// Measures lists and searches of many sessions, and prints tables. See README.md.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { defineAgent, type Fact, run, type Store } from "capstan";
import { sessions } from "capstan/sessions";
import { memory } from "capstan/stores/memory";
import { postgres } from "capstan/stores/postgres";
import { sqlite } from "capstan/stores/sqlite";
import pg from "pg";
import { computeMedian } from "./statistics.ts";

const help = `Measures the first page of lists and searches in stores with many sessions.

  npm run bench:lists                        about five minutes; updates the tables in bench/README.md
  npm run bench:lists -- --quick             rough figures of few sessions
  npm run bench:lists -- --postgres <url>    includes PostgreSQL: a server where schemas can be created
`;

export type ListCell = {
  readonly store: string;
  readonly sessions: number;
  readonly work: string;
  readonly ms: readonly number[];
};

export type ListPlan = {
  readonly sizes: readonly number[];
  readonly samples: number;
  readonly postgres?: string;
  log(text: string): void;
};

const userCount = 100;
const getSessionId = (index: number) => `user${index % userCount}~${index}`;

/** Every text has frequent words; one in fifty has "medium", one in five thousand "rareword". */
function createText(index: number): string {
  const words = Array.from({ length: 20 }, (_, place) => `w${(index * 31 + place * place * 17) % 5_000}`);
  const marks = [index % 50 === 0 ? "medium" : "", index % 5_000 === 0 ? "rareword" : ""];
  return ["A common question about", ...words, ...marks].join(" ");
}

/** Adds sessions with one real run each. */
async function addSessions(store: Store, from: number, to: number): Promise<void> {
  const source = memory();
  const model = "offline/rules";
  await run(defineAgent({ name: "bench", model }), "__question__", {
    ...{ store: source, session: "__session__", runId: "__run__" },
  });
  const template = JSON.stringify((await source.read("__session__")).map(({ seq: _, ...fact }) => fact));
  async function addSession(index: number): Promise<void> {
    const id = getSessionId(index);
    const text = template
      .replaceAll("__session__", id)
      .replaceAll("__run__", `run_${index}`)
      .replaceAll("__question__", createText(index));
    const facts = (JSON.parse(text) as Fact[]).map((fact) => ({ ...fact, at: 1e12 + index }));
    const lease = await store.lease(id, "bench", 1);
    if (lease) await store.append(facts, { expected: 0, lease });
  }
  for (let first = from; first < to; first += 200) {
    const count = Math.min(200, to - first);
    await Promise.all(Array.from({ length: count }, (_, index) => addSession(first + index)));
  }
}

type Work = { readonly title: string; act(): Promise<readonly unknown[]> };

function createWorks(store: Store, size: number): readonly Work[] {
  const stored = sessions(store);
  const middle = { id: getSessionId(size / 2), updatedAt: 1e12 + size / 2 };
  const search = (words: string, scope?: string) => () =>
    stored.search(words, { limit: 50, ...(scope !== undefined && { scope }) });
  return [
    { title: "first page", act: () => stored.list({ limit: 50 }) },
    { title: "page in the middle", act: () => stored.list({ limit: 50, after: middle }) },
    { title: "first page of a user", act: () => stored.list({ limit: 50, scope: "user7" }) },
    { title: "search a frequent word", act: search("common question") },
    { title: "search two letters", act: search("co") },
    { title: "search a word in 2 % of all", act: search("medium") },
    { title: "search a rare word", act: search("rarew") },
    { title: "search a missing word", act: search("absentword") },
    { title: "search a frequent word of a user", act: search("comm", "user7") },
    { title: "search a rare word of a user", act: search("rarew", "user0") },
  ];
}

type StoreUnderTest = { readonly name: string; readonly store: Store; settle?(): Promise<unknown> };

async function measureStore({ name, store, settle }: StoreUnderTest, plan: ListPlan): Promise<ListCell[]> {
  const cells: ListCell[] = [];
  let filled = 0;
  for (const size of plan.sizes) {
    await addSessions(store, filled, size);
    filled = size;
    await settle?.();
    plan.log(`${name}: ${size} sessions`);
    for (const { title, act } of createWorks(store, size)) {
      const found = await act(); // warm up
      if ((found.length === 0) !== title.includes("missing"))
        throw new Error(`${title}: ${found.length} results`);
      const ms: number[] = [];
      for (let sample = 0; sample < plan.samples; sample++) {
        const startedAt = performance.now();
        await act();
        ms.push(performance.now() - startedAt);
      }
      cells.push({ store: name, sessions: size, work: title, ms });
    }
  }
  return cells;
}

export async function measureLists(plan: ListPlan): Promise<readonly ListCell[]> {
  const folder = mkdtempSync(join(tmpdir(), "capstan-bench-"));
  const file = sqlite(join(folder, "bench.db"));
  const cells = await measureStore({ name: "SQLite", store: file }, plan);
  await file.close();
  rmSync(folder, { recursive: true });
  if (plan.postgres === undefined) return cells;
  const pool = new pg.Pool({ connectionString: plan.postgres });
  const schema = `bench_${folder.slice(-6).toLowerCase()}`;
  const database = postgres(pool, { schema });
  // What autovacuum does within a minute of a bulk load.
  const settle = () => pool.query(`VACUUM ANALYZE "${schema}".facts, "${schema}".sessions`);
  cells.push(...(await measureStore({ name: "PostgreSQL", store: database, settle }, plan)));
  await database.close();
  await pool.query(`DROP SCHEMA "${schema}" CASCADE`);
  await pool.end();
  return cells;
}

export function formatListReport(cells: readonly ListCell[]): string {
  const processor = cpus()[0]?.model.trim() ?? "an unknown processor";
  const date = new Date().toISOString().slice(0, 10);
  const about = `${date}, Node ${process.version}, ${cpus().length} × ${processor}, \`npm run bench:lists\`. Milliseconds for a page of up to 50 results with titles, median; in parentheses, the longest.`;
  const stores = Map.groupBy(cells, ({ store }) => store);
  return [about, ...[...stores].map(([store, own]) => formatTable(store, own))].join("\n\n");
}

function formatTable(store: string, cells: readonly ListCell[]): string {
  const sizes = [...new Set(cells.map((cell) => cell.sessions))];
  const rows = [...Map.groupBy(cells, ({ work }) => work)].map(([work, own]) => {
    const medians = own.map(({ ms }) => computeMedian(ms));
    const figures = own.map(({ ms }) => `${computeMedian(ms).toFixed(1)} (${Math.max(...ms).toFixed(0)})`);
    return [work, ...figures, ((medians.at(-1) ?? 0) / (medians[0] ?? 1)).toFixed(2)];
  });
  const head = [store, ...sizes.map((size) => `${size.toLocaleString("en")} sessions`), "last to first"];
  const lines = [head, head.map((_, column) => (column === 0 ? "---" : "---:")), ...rows];
  return lines.map((line) => `| ${line.join(" | ")} |`).join("\n");
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      quick: { type: "boolean", default: false },
      postgres: { type: "string" },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return console.log(help);
  const sizes = values.quick ? [200, 1_000] : [1_000, 100_000];
  const plan = { sizes, samples: values.quick ? 3 : 15, log: (text: string) => console.error(text) };
  const { postgres: url } = values;
  const report = formatListReport(await measureLists({ ...plan, ...(url && { postgres: url }) }));
  console.log(report);
  if (values.quick) return;
  const readme = join(import.meta.dirname, "README.md");
  const [before, rest = ""] = readFileSync(readme, "utf8").split("<!-- lists -->");
  const [, after = ""] = rest.split("<!-- end of lists -->");
  writeFileSync(readme, `${before}<!-- lists -->\n\n${report}\n\n<!-- end of lists -->${after}`);
}

if (process.argv[1] === import.meta.filename) await main();
