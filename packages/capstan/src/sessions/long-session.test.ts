import { afterEach, beforeEach, expect, it } from "vitest";
import type { UnplacedFact } from "../kernel/event.ts";
import { defaultPolicy } from "../kernel/policy.ts";
import { createFactId } from "../runtime/facts.ts";
import type { Store } from "../runtime/store.ts";
import { memory } from "../stores/memory.ts";
import { session } from "./session.ts";
import { sessions } from "./sessions.ts";

// Long sessions are read and written in pages, and other work of the process runs between them.

const factCount = 2_300;
const maxPage = 500;

let turn = 0;
let ticker: NodeJS.Immediate;
beforeEach(() => {
  const tick = () => {
    turn += 1;
    ticker = setImmediate(tick);
  };
  ticker = setImmediate(tick);
});
afterEach(() => clearImmediate(ticker));

type PagedStore = Store & { readonly reads: number[]; readonly appends: number[]; readonly turns: number[] };

/** A memory store with one long session that records the size of every page and when it is read or written. */
async function createPagedStore(): Promise<PagedStore> {
  const store = memory();
  const lease = await store.lease("s", "owner", 60_000);
  if (!lease) throw new Error("no lease");
  await store.append(createFacts(), { expected: 0, lease });
  await store.release(lease);
  const [reads, appends, turns]: [number[], number[], number[]] = [[], [], []];
  return {
    ...store,
    ...{ reads, appends, turns },
    async read(sessionId, after, limit) {
      const facts = await store.read(sessionId, after, limit);
      reads.push(limit ?? Number.POSITIVE_INFINITY);
      if (facts.length === maxPage) turns.push(turn);
      return facts;
    },
    writeSession: (at, write) =>
      store.writeSession(at, ({ append, putBlob }) =>
        write({
          putBlob,
          append(facts) {
            appends.push(facts.length);
            return append(facts);
          },
        }),
      ),
  };
}

function createFacts(): UnplacedFact[] {
  const origin = { runId: "r", sessionId: "s", agent: "a", turn: 1, at: 1 };
  const start = { type: "run_start", input: [], policy: defaultPolicy, timeZone: "UTC" } as const;
  const notes = Array.from({ length: factCount - 1 }, (_, index) => {
    const body = { type: "warning", code: `${index}`, message: `note ${index} ${"x".repeat(50)}` } as const;
    return { ...body, ...origin, id: createFactId(body, { runId: "r", retries: 0 }, `${index}`) };
  });
  return [{ ...start, ...origin, id: createFactId(start, { runId: "r", retries: 0 }, "") }, ...notes];
}

function expectPages({ reads, turns }: PagedStore): void {
  expect(Math.max(...reads)).toBeLessThanOrEqual(maxPage);
  expect(turns.length).toBeGreaterThanOrEqual(Math.floor(factCount / maxPage));
  expect(new Set(turns).size).toBe(turns.length); // no two full pages in the same turn of the event loop
}

it("a fork reads and writes pages of at most 500 facts", async () => {
  const store = await createPagedStore();
  const fork = await session(store, "s").fork(factCount - 10);
  expectPages(store);
  expect(Math.max(...store.appends)).toBeLessThanOrEqual(maxPage);
  const facts = await fork.facts();
  expect(facts).toHaveLength(factCount - 9);
  expect(facts.at(-2)).toMatchObject({ code: `${factCount - 12}`, seq: factCount - 10 });
  expect(facts.at(-1)).toMatchObject({ type: "waiting" });
});

it.each([
  "json",
  "markdown",
  "html",
] as const)("an export as %s is read in pages and passed on in parts", async (format) => {
  const store = await createPagedStore();
  const parts: string[] = [];
  for await (const part of session(store, "s").exportParts(format)) parts.push(part);
  expectPages(store);
  expect(parts.length).toBeGreaterThan(2);
  expect(parts.join("")).toContain(`note ${factCount - 2}`);
  expect(await session(store, "s").export(format)).toBe(parts.join(""));
});

it("an import is written in pages", async () => {
  const store = await createPagedStore();
  const text = await session(store, "s").export("json");
  const copy = await sessions(store).import(text, { id: "copy" });
  expect(Math.max(...store.appends)).toBeLessThanOrEqual(maxPage);
  expect(await copy.info()).toMatchObject({ facts: factCount + 1 });
});

it("a summary, a history, the facts and a replay are read in pages", async () => {
  const store = await createPagedStore();
  const stored = session(store, "s");
  expect(await stored.info()).toMatchObject({ facts: factCount, runs: [{ runId: "r", turns: 1 }] });
  await stored.history();
  expect(await stored.facts(10)).toHaveLength(factCount - 10);
  let events = 0;
  for await (const _ of stored.replay()) events += 1;
  expect(events).toBe(factCount);
  expectPages(store);
});
