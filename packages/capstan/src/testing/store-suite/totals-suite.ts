import fc from "fast-check";
import { expect, it } from "vitest";
import type { UnplacedFact } from "../../kernel/event.ts";
import type {
  NamedTotals,
  RunFilter,
  RunStatistics,
  RunSummary,
  RunTotals,
} from "../../runtime/run-catalog.ts";
import type { Store } from "../../runtime/store.ts";
import { acquireTestLease } from "./facts-for-suite.ts";
import { createAnswerFact, createEnd, createOwnFact, createResult, createStart } from "./summaries-suite.ts";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

const sessionIds = ["ann~s0", "ann~s1", "bob~s2", "s3"];

/** Costs have an exact sum, in whichever order they are added. */
const changes = fc.record({
  type: fc.constantFrom("start", "start", "answer", "call", "end", "end", "retry", "feedback", "remove"),
  session: fc.constantFrom(...sessionIds),
  agent: fc.constantFrom("guide", "clerk"),
  name: fc.constantFrom("one", "two", 'a "third", \u001f'),
  at: fc.oneof(fc.nat(3 * hourMs), fc.constantFrom(0, hourMs, 2 * hourMs)),
  ms: fc.constantFrom(0, 1, 2.5, 900, 90_000, 5 * hourMs),
  cost: fc.constantFrom(0, 0.25, 3),
  isFailed: fc.boolean(),
});
type Change = typeof changes extends fc.Arbitrary<infer Value> ? Value : never;

const filters: readonly RunFilter[] = [
  {},
  { scope: "ann" },
  { scope: "" },
  { agent: "guide" },
  { status: "failed", tag: "one" },
  { model: "two" },
  { from: 90 * minuteMs, to: 150 * minuteMs },
  { scope: "bob", from: hourMs, minMs: 1 },
];
const periods = [7 * minuteMs, hourMs, 2 * hourMs, 24 * hourMs];

/** Totals are those of the runs, whatever happened to them. */
export function totalsSuite(getStore: () => Store): void {
  it("adds up exactly the runs that it lists, over random starts, ends, retries and deletions", async () => {
    const store = getStore();
    const check = fc.asyncProperty(
      fc.array(changes, { minLength: 12, maxLength: 24, size: "max" }),
      async (planned) => {
        await Promise.all(sessionIds.map((sessionId) => store.remove(sessionId)));
        const { total, buckets } = await store.summarizeRuns({ bucketMs: hourMs });
        expect([total, buckets]).toEqual([{ runs: 0, failed: 0, cost: 0, tokens: 0 }, []]);
        const open = new Map<string, string>();
        for (const [index, change] of planned.entries()) await applyChange(store, open, { change, index });
        for (const filter of filters) {
          const { runs } = await store.queryRuns({ ...filter, limit: 1_000 });
          for (const bucketMs of periods)
            expectTotals(await store.summarizeRuns({ ...filter, bucketMs }), runs, bucketMs);
        }
      },
    );
    await fc.assert(check, { numRuns: process.env.CAPSTAN_LONG === "1" ? 100 : 4 });
  });
}

let runs = 0;

/** `open` has the newest run of each session. A change that a session cannot have is left out. */
async function applyChange(
  store: Store,
  open: Map<string, string>,
  { change, index }: { readonly change: Change; readonly index: number },
): Promise<void> {
  const { session, agent, name } = change;
  if (change.type === "start") open.set(session, `run${++runs}`);
  const runId = open.get(session);
  if (runId === undefined) return;
  if (change.type === "remove") {
    open.delete(session);
    await store.remove(session);
  } else if (change.type === "feedback") await store.putFeedback(runId, { rating: "up", at: index });
  else await appendFact(store, createChangeFact({ sessionId: session, runId, agent }, change, name));
}

function createChangeFact(
  place: { readonly sessionId: string; readonly runId: string; readonly agent: string },
  { type, at, ms, cost, isFailed }: Change,
  name: string,
): UnplacedFact {
  const usage = { inputTokens: 5, outputTokens: 1, cost };
  if (type === "start") return createStart(place, "Go", { at, tags: [name] });
  if (type === "answer") return createAnswerFact(place, usage, { model: name });
  if (type === "call") return createResult(place, name);
  if (type === "end") return createEnd(place, at + ms, { status: isFailed ? "failed" : "done", usage, cost });
  return createOwnFact(place, { type: "retried" }, at);
}

async function appendFact(store: Store, fact: UnplacedFact): Promise<void> {
  const lease = await acquireTestLease(store, fact.sessionId);
  const expected = (await store.getSession(fact.sessionId))?.facts ?? 0;
  await store.append([fact], { expected, lease });
  await store.release(lease);
}

function expectTotals(statistics: RunStatistics, listed: readonly RunSummary[], bucketMs: number): void {
  const { p50Ms, p95Ms, ...total } = statistics.total;
  expect(total).toEqual(addUp(listed));
  const durations = listed
    .flatMap(({ ms }) => (ms === undefined ? [] : Math.max(1, ms)))
    .sort((left, right) => left - right);
  for (const [found, share] of [
    [p50Ms, 0.5],
    [p95Ms, 0.95],
  ] as const) {
    const expected = durations[Math.ceil(durations.length * share) - 1];
    expect(found === undefined).toBe(expected === undefined);
    // Whole milliseconds, to within 1 %.
    if (expected !== undefined)
      expect(Math.abs((found ?? 0) - expected)).toBeLessThanOrEqual(0.51 + 0.011 * expected);
  }
  const byPeriod = Map.groupBy(listed, ({ startedAt }) => Math.floor(startedAt / bucketMs) * bucketMs);
  expect(statistics.buckets.map(({ p50Ms: _, p95Ms: __, ...bucket }) => bucket)).toEqual(
    [...byPeriod].sort(([left], [right]) => left - right).map(([at, own]) => ({ at, ...addUp(own) })),
  );
  expect(sortNames(statistics.agents)).toEqual(addUpNames(listed, ({ agent }) => [agent]));
  expect(sortNames(statistics.models)).toEqual(addUpNames(listed, ({ models }) => models));
  expect(sortNames(statistics.tools)).toEqual(addUpNames(listed, ({ tools }) => tools));
}

function addUp(listed: readonly RunSummary[]): RunTotals {
  const sum = (read: (run: RunSummary) => number) => listed.reduce((total, run) => total + read(run), 0);
  return {
    runs: listed.length,
    failed: sum(({ status }) => (status === "failed" ? 1 : 0)),
    cost: sum(({ cost }) => cost),
    tokens: sum(({ usage }) => usage.inputTokens + usage.outputTokens),
  };
}

function addUpNames(
  listed: readonly RunSummary[],
  getNames: (run: RunSummary) => readonly string[],
): readonly NamedTotals[] {
  const names = new Set(listed.flatMap(getNames));
  return sortNames(
    [...names].map((name) => ({ name, ...addUp(listed.filter((run) => getNames(run).includes(name))) })),
  );
}

function sortNames(totals: readonly NamedTotals[]): readonly NamedTotals[] {
  return totals.toSorted((left, right) => (left.name < right.name ? -1 : 1));
}
