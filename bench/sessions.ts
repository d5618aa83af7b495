// Measures what a session costs as it grows, and prints tables. See README.md.
import { monitorEventLoopDelay } from "node:perf_hooks";
import { defineAgent, defineTool, type Fact, run, type Store } from "capstan";
import { type LocalEngine, local } from "capstan/engines/local";
import { session, subscribe } from "capstan/sessions";
import { memory } from "capstan/stores/memory";
import { formatEnvironment } from "./markdown.ts";
import { computeGrowthExponent, computeMedian } from "./statistics.ts";
import {
  formatStoreTables,
  measureStores,
  runStoreBench,
  type StorePlan,
  type StoreUnderTest,
} from "./store-bench.ts";

const help = `Measures opening, continuing, following, exporting, forking and removing sessions of several sizes.

  npm run bench:sessions                        about three minutes; updates the tables in bench/README.md
  npm run bench:sessions -- --quick             rough figures of small sessions
  npm run bench:sessions -- --postgres <url>    includes PostgreSQL: a server where schemas can be created
`;

export type SessionCell = {
  readonly store: string;
  readonly facts: number;
  readonly work: string;
  /** Elapsed time, and CPU time of this process. */
  readonly ms: readonly number[];
  readonly cpuMs: readonly number[];
  /** The longest time for which nothing else could run in the process. */
  readonly blockedMs: number;
};

type Model = Exclude<Parameters<typeof defineAgent>[0]["model"], string | readonly unknown[]>;

/** Calls its tool twice for each message, then answers. */
const model: Model = {
  id: "counting",
  async *stream({ history }) {
    const question = history.findLastIndex(({ type }) => type === "user");
    const results = history.slice(question).filter(({ type }) => type === "result").length;
    const usage = { type: "usage", usage: { inputTokens: 10, outputTokens: 5 } } as const;
    if (results >= 2) yield [{ type: "text", text: "It is done." }, usage, { type: "finish", reason: "end" }];
    else
      yield [
        { type: "call_start", index: 0, name: "look" },
        { type: "call_delta", index: 0, text: `{"step":${results}}` },
        usage,
        { type: "finish", reason: "tool_calls" },
      ];
  },
};
const look = defineTool({
  name: "look",
  description: "Looks at something.",
  input: {},
  effects: "none",
  execute: () => "Something to look at. ".repeat(20),
});
// The history is bounded, as in any long conversation: what remains is the length of the log.
const agent = defineAgent({ name: "bench", model, tools: [look], policy: { historyLimit: 20 } });

const sessionId = "long";
const getRunId = (index: number) => `run_${index}`;

/** Fills a session with copies of one real run. Returns the number of its runs. */
async function fillSession(store: Store, size: number): Promise<number> {
  const source = memory();
  await run(agent, "Look.", { store: source, session: sessionId, runId: "run_template" });
  const template = JSON.stringify((await source.read(sessionId)).map(({ seq: _, ...fact }) => fact));
  const createRun = (index: number): Omit<Fact, "seq">[] =>
    JSON.parse(
      template.replaceAll("run_template", getRunId(index)).replaceAll(/"call_(?=\d)/g, `"call_${index}_`),
    );
  const runs = Math.ceil(size / createRun(0).length);
  const lease = await store.lease(sessionId, "bench", 600_000);
  if (!lease) throw new Error("The session is in use.");
  let expected = 0;
  for (let first = 0; first < runs; first += 100) {
    const count = Math.min(100, runs - first);
    const facts = Array.from({ length: count }, (_, index) => createRun(first + index)).flat();
    await store.append(facts as Fact[], { expected, lease });
    expected += facts.length;
  }
  await store.release(lease);
  return runs;
}

type Work = { readonly title: string; readonly once?: true; act(): Promise<unknown> };

/** In this order: the first work finds no snapshot, and the last one removes the session. */
function createWorks(store: Store, engine: LocalEngine): readonly Work[] {
  let newest = getRunId(0);
  const continueSession = async () => {
    const started = engine.run(agent, "Look.", { session: sessionId });
    newest = started.id;
    const { status } = await started;
    if (status !== "done") throw new Error(`A run ended as ${status}.`);
  };
  return [
    { title: "new run, no snapshot", once: true, act: continueSession },
    { title: "new run", act: continueSession },
    { title: "open the newest run", act: () => engine.getResult(newest) },
    { title: "follow the newest run", act: () => readEvents(store, { runId: newest }) },
    { title: "follow the session", act: () => readEvents(store, { sessionId }) },
    { title: "export", once: true, act: () => exportSession(store) },
    { title: "fork", once: true, act: () => forkSession(store) },
    { title: "remove", once: true, act: () => store.remove(sessionId) },
  ];
}

async function readEvents(store: Store, source: { runId: string } | { sessionId: string }): Promise<void> {
  for await (const _ of subscribe(store, source, { untilRest: true }));
}

async function exportSession(store: Store): Promise<void> {
  for await (const _ of session(store, sessionId).exportParts("json"));
}

async function forkSession(store: Store): Promise<void> {
  const { facts = 0 } = (await store.getSession(sessionId)) ?? {};
  await session(store, sessionId).fork(facts);
}

async function measureStore(
  { name, store, settle }: StoreUnderTest,
  plan: StorePlan,
): Promise<SessionCell[]> {
  const cells: SessionCell[] = [];
  for (const facts of plan.sizes) {
    await fillSession(store, facts);
    await settle();
    const engine = local({ store, agents: agent });
    for (const { title, once, act } of createWorks(store, engine)) {
      if (!once) await act(); // warm up
      const delay = monitorEventLoopDelay({ resolution: 1 });
      delay.enable();
      const [ms, cpuMs]: [number[], number[]] = [[], []];
      for (let sample = 0; sample < (once ? 1 : plan.samples); sample++) {
        const startedAt = performance.now();
        const before = process.cpuUsage();
        await act();
        const { user, system } = process.cpuUsage(before);
        ms.push(performance.now() - startedAt);
        cpuMs.push((user + system) / 1000);
        await new Promise((resolve) => setTimeout(resolve, 5)); // lets the monitor see a block at the end
      }
      delay.disable();
      cells.push({ store: name, facts, work: title, ms, cpuMs, blockedMs: delay.max / 1e6 });
      plan.log(`${name}, ${facts} facts: ${title}, ${computeMedian(ms).toFixed(1)} ms`);
    }
    await engine.close();
  }
  return cells;
}

export function measureSessions(plan: StorePlan): Promise<readonly SessionCell[]> {
  return measureStores(plan, (subject) => measureStore(subject, plan));
}

export function formatSessionReport(cells: readonly SessionCell[]): string {
  const about = `${formatEnvironment("npm run bench:sessions")}. Milliseconds of CPU time and, in parentheses, of elapsed time; the exponent is that of CPU time.`;
  const tables = formatStoreTables(cells, {
    head(own) {
      const sizes = [...new Set(own.map(({ facts }) => facts))];
      return [...sizes.map((size) => `${size.toLocaleString("en")} facts`), "exponent", "longest block"];
    },
    row(own) {
      const points = own.map(({ facts, cpuMs }) => ({ size: facts, cost: computeMedian(cpuMs) }));
      const figures = own.map(
        ({ ms, cpuMs }) => `${computeMedian(cpuMs).toFixed(1)} (${computeMedian(ms).toFixed(0)})`,
      );
      const blockedMs = Math.max(...own.map((cell) => cell.blockedMs)).toFixed(0);
      return [...figures, computeGrowthExponent(points).toFixed(2), blockedMs];
    },
  });
  return `${about}\n\n${tables}`;
}

if (process.argv[1] === import.meta.filename)
  await runStoreBench({
    help,
    section: "sessions",
    quick: { sizes: [100, 1_000], samples: 2 },
    full: { sizes: [100, 1_000, 10_000, 100_000], samples: 5 },
    report: async (plan) => formatSessionReport(await measureSessions(plan)),
  });
