// Measures lists and searches of many sessions and runs, and prints tables. See README.md.
import { defineAgent, type Fact, type RunFilter, type RunQuery, run, type Store } from "capstan";
import { offline } from "capstan/models/offline";
import { sessions } from "capstan/sessions";
import { memory } from "capstan/stores/memory";
import { formatEnvironment } from "./markdown.ts";
import { computeMedian } from "./statistics.ts";
import {
  formatStoreTables,
  measureStores,
  runStoreBench,
  type StorePlan,
  type StoreUnderTest,
} from "./store-bench.ts";

const help = `Measures lists and searches of sessions and runs in stores with many of them.

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

const userCount = 100;
const hourMs = 3_600_000;
const getSessionId = (index: number) => `user${index % userCount}~${index}`;

/** Every text has frequent words; one in fifty has "medium", one in five thousand "rareword". */
function createText(index: number): string {
  const words = Array.from({ length: 20 }, (_, place) => `w${(index * 31 + place * place * 17) % 5_000}`);
  const marks = [index % 50 === 0 ? "medium" : "", index % 5_000 === 0 ? "rareword" : ""];
  return ["A common question about", ...words, ...marks].join(" ");
}

/** Gives the runs different tags, models, costs, durations and ends. */
function varyRun(fact: Fact, index: number): Fact {
  const at = 1e12 + index * 1_000;
  if (fact.type === "run_start")
    return { ...fact, at, tags: [`tag${index % 10}`, ...(index % 5_000 === 0 ? ["rare"] : [])] };
  if (fact.type === "message") return { ...fact, at, model: `model-${index % 4}` };
  if (fact.type !== "done") return { ...fact, at };
  const status = index % 20 === 0 ? "failed" : "done";
  return { ...fact, status, at: at + ((index * 7_919) % 60_000), cost: ((index * 31) % 1_000) / 1_000 };
}

/** Adds sessions with one real run each. */
async function addSessions(store: Store, from: number, to: number): Promise<void> {
  const source = memory();
  const agent = defineAgent({ name: "bench", model: offline() });
  const place = { store: source, session: "__session__", runId: "__run__" };
  (await run(agent, "__question__", place)).orThrow();
  const template = JSON.stringify((await source.read("__session__")).map(({ seq: _, ...fact }) => fact));
  async function addSession(index: number): Promise<void> {
    const id = getSessionId(index);
    const text = template
      .replaceAll("__session__", id)
      .replaceAll("__run__", `run_${index}`)
      .replaceAll("__question__", createText(index));
    const facts = (JSON.parse(text) as Fact[]).map((fact) => varyRun(fact, index));
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
  const middle = { id: getSessionId(size / 2), updatedAt: 1e12 + (size / 2) * 1_000 };
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
    ...createRunWorks(store, size),
  ];
}

function createRunWorks(store: Store, size: number): readonly Work[] {
  const query = (title: string, given: RunQuery): Work => ({
    title: `runs: ${title}`,
    act: async () => (await store.queryRuns(given)).runs,
  });
  const sum = (title: string, filter: RunFilter): Work => ({
    title: `runs: ${title}`,
    act: async () => (await store.summarizeRuns({ ...filter, bucketMs: hourMs })).buckets,
  });
  return [
    query("first page", {}),
    query("page in the middle", { cursor: `startedAt~desc~${1e12 + size * 500}~0` }),
    query("first page of a user", { scope: "user7" }),
    query("failed", { status: "failed" }),
    query("the most expensive", { sort: "cost" }),
    query("the slowest of a user", { sort: "ms", scope: "user7" }),
    query("the slowest", { sort: "ms" }),
    query("by tokens, with one model", { sort: "tokens", model: "model-1" }),
    query("with a tag in 10 % of all", { tag: "tag3" }),
    query("with a rare tag", { tag: "rare" }),
    query("with a missing tool", { tool: "absent" }),
    query("that have ended, by turns", { state: "ended", sort: "turns" }),
    query("with a frequent word", { q: "common question" }),
    query("with a word in 2 % of all", { q: "medium" }),
    query("with a rare word", { q: "rarew" }),
    query("with a missing word", { q: "absentword" }),
    sum("totals of all", {}),
    sum("totals of a user", { scope: "user7" }),
    sum("totals of failed ones with a tag", { status: "failed", tag: "tag0" }),
  ];
}

async function measureStore({ name, store, settle }: StoreUnderTest, plan: StorePlan): Promise<ListCell[]> {
  const cells: ListCell[] = [];
  let filled = 0;
  for (const size of plan.sizes) {
    await addSessions(store, filled, size);
    filled = size;
    await settle();
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

export function measureLists(plan: StorePlan): Promise<readonly ListCell[]> {
  return measureStores(plan, (subject) => measureStore(subject, plan));
}

export function formatListReport(cells: readonly ListCell[]): string {
  const about = `${formatEnvironment("npm run bench:lists")}. Milliseconds for a page of up to 50 results with titles, median; in parentheses, the longest.`;
  const tables = formatStoreTables(cells, {
    head(own) {
      const sizes = [...new Set(own.map((cell) => cell.sessions))];
      return [...sizes.map((size) => `${size.toLocaleString("en")} sessions`), "last to first"];
    },
    row(own) {
      const medians = own.map(({ ms }) => computeMedian(ms));
      const figures = own.map(({ ms }) => `${computeMedian(ms).toFixed(1)} (${Math.max(...ms).toFixed(0)})`);
      return [...figures, ((medians.at(-1) ?? 0) / (medians[0] ?? 1)).toFixed(2)];
    },
  });
  return `${about}\n\n${tables}`;
}

if (process.argv[1] === import.meta.filename)
  await runStoreBench({
    help,
    section: "lists",
    quick: { sizes: [200, 1_000], samples: 3 },
    full: { sizes: [1_000, 100_000], samples: 15 },
    report: async (plan) => formatListReport(await measureLists(plan)),
  });
