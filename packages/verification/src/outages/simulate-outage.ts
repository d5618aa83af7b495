import { setImmediate } from "node:timers/promises";
import { defineAgent, defineTool } from "capstan";
import { local } from "capstan/engines/local";
import { compatible } from "capstan/models/compatible";
import { memory } from "capstan/stores/memory";
import { type FakeClock, fakeClock } from "capstan/testing";
import { expect } from "vitest";
import { type OutageKind, startOutageServer } from "./outage-server.ts";

export type OutageOptions = {
  readonly kind: OutageKind;
  readonly runs: number;
  readonly outageMs: number;
};

export type OutageReport = {
  /** How many runs ended with each status. */
  readonly statuses: { readonly [status: string]: number };
  /** How often the tool of each run was executed. */
  readonly executions: readonly number[];
  /** Runs that were suspended when the provider came back. */
  readonly suspended: number;
  /** Times of the requests, in milliseconds since the provider went down. */
  readonly requestTimes: readonly number[];
  /** When the first and the last run had ended, in milliseconds since the provider was back. */
  readonly firstEndMs: number;
  readonly lastEndMs: number;
  /** The largest number of facts of a session. */
  readonly maxFacts: number;
};

const maxRecoveryMs = 600_000;

/**
 * Runs an agent under the local engine against a real server, whose outage begins after each run has called its tool.
 * Time is simulated: it moves only while no request is in flight.
 */
export async function simulateOutage({ kind, runs, outageMs }: OutageOptions): Promise<OutageReport> {
  const server = await startOutageServer();
  const clock = fakeClock();
  const store = memory({ clock });
  const requests = countRequests(clock);
  const executions = new Map<string, number>();
  const outageStart = Promise.withResolvers<void>();
  const book = defineTool({
    name: "book",
    description: "Books a seat.",
    input: {},
    effects: "state",
    async execute(_input, { runId }) {
      executions.set(runId, (executions.get(runId) ?? 0) + 1);
      await outageStart.promise;
      return "Booked.";
    },
  });
  const timeouts = { firstByteMs: 20_000 };
  const model = compatible({ baseURL: server.url, model: "m", clock, timeouts, fetch: requests.fetch });
  const agent = defineAgent({ name: "desk", model, tools: [book] });
  const engine = local({ store, agents: agent, clock, getResumeOptions: () => ({ clock }) });
  const isQuiet = () => server.countOpen() === 0 && requests.countPending() === server.countStalled();
  const ids = Array.from({ length: runs }, (_, index) => `run_${index}`);
  const sessions = new Map<string, string>();
  for (const runId of ids) {
    sessions.set(runId, `s_${runId}`);
    engine.run(agent, "Book.", { runId, session: `s_${runId}`, clock }).then(undefined, () => undefined);
  }
  while (executions.size < runs) await setImmediate();
  await waitUntilQuiet(isQuiet);
  await server.goDown(kind);
  const downAt = clock.now();
  const requestsBefore = requests.times.length;
  outageStart.resolve();
  await passTime(clock, outageMs, isQuiet);
  const suspended = await countByLastFact(store, sessions, "waiting");
  await server.comeBack();
  const backAt = clock.now();
  let firstEndMs: number | undefined;
  for (;;) {
    const ended = await countByLastFact(store, sessions, "done");
    if (ended > 0) firstEndMs ??= clock.now() - backAt;
    if (ended === runs || clock.now() - backAt > maxRecoveryMs) break;
    await passTime(clock, 250, isQuiet);
  }
  const lastEndMs = clock.now() - backAt;
  const statuses: Record<string, number> = {};
  let maxFacts = 0;
  for (const [runId, sessionId] of sessions) {
    const { status } = await engine.getResult(runId);
    statuses[status] = (statuses[status] ?? 0) + 1;
    maxFacts = Math.max(maxFacts, (await store.read(sessionId)).length);
  }
  await engine.close();
  await server.close();
  return {
    statuses,
    executions: ids.map((runId) => executions.get(runId) ?? 0),
    suspended,
    requestTimes: requests.times.slice(requestsBefore).map((at) => at - downAt),
    firstEndMs: firstEndMs ?? Number.POSITIVE_INFINITY,
    lastEndMs,
    maxFacts,
  };
}

/** Returns the largest number of requests within one second of a period. */
export function findPeak(
  requestTimes: readonly number[],
  { from, until = Number.POSITIVE_INFINITY }: { readonly from: number; readonly until?: number },
): number {
  const times = requestTimes.filter((at) => at >= from && at < until);
  let peak = 0;
  let first = 0;
  for (const [index, at] of times.entries()) {
    while ((times[first] ?? at) <= at - 1000) first += 1;
    peak = Math.max(peak, index - first + 1);
  }
  return peak;
}

/** While the provider is down, after the first second: one call at a time probes it. */
const maxDuringOutage = 2;
/**
 * After that: 50 calls per second, and twice as many every five seconds. Suspended runs continue at the first rate. A few
 * more are allowed, because the simulated time moves in steps.
 */
const maxAfterOutage = 70;
const recoveryStepMs = 5_000;
/** The last probe may be half a minute old, and a stalled request fails only after its timeout. */
const maxPauseMs = 60_000;

/** Asserts that every run ended without repeating its tool, and how often the provider was called. */
export function assertSurvived({ runs, outageMs }: OutageOptions, report: OutageReport): void {
  expect(report.statuses).toEqual({ done: runs });
  expect(report.executions).toEqual(Array(runs).fill(1));
  const { requestTimes } = report;
  expect(findPeak(requestTimes, { from: 1_000, until: outageMs })).toBeLessThanOrEqual(maxDuringOutage);
  const backAt = requestTimes.find((at) => at >= Math.max(outageMs, 1_000)) ?? 0;
  for (const [step, limit] of [maxAfterOutage, 2 * maxAfterOutage, 4 * maxAfterOutage].entries()) {
    const from = backAt + step * recoveryStepMs;
    // A step that begins in the middle of a second has some of the calls of the next one.
    const until = step === 2 ? Number.POSITIVE_INFINITY : from + recoveryStepMs - 1_000;
    const peak = findPeak(requestTimes, { from, until });
    expect(peak, `${step * 5} s after the outage`).toBeLessThanOrEqual(limit);
  }
  expect(requestTimes.filter((at) => at < outageMs).length).toBeLessThanOrEqual(2 * runs + outageMs / 1_000);
  expect(report.firstEndMs).toBeLessThanOrEqual(maxPauseMs);
  expect(report.lastEndMs).toBeLessThanOrEqual(maxPauseMs + (runs / 50) * 2_000);
}

/** Creates a `fetch` that records the simulated time of each request, even if no server receives the request. */
function countRequests(clock: FakeClock) {
  const times: number[] = [];
  let pending = 0;
  const countingFetch: typeof fetch = async (input, init) => {
    times.push(clock.now());
    pending += 1;
    try {
      return await fetch(input, init);
    } finally {
      pending -= 1;
    }
  };
  return { times, fetch: countingFetch, countPending: () => pending };
}

/** Resolves when nothing happens until the clock moves. */
async function waitUntilQuiet(isQuiet: () => boolean): Promise<void> {
  for (let quiet = 0; quiet < 8; quiet = isQuiet() ? quiet + 1 : 0) await setImmediate();
}

/** Steps of this length are short compared to all waits at the start of an outage; later ones are longer. */
const minStepMs = 250;

async function passTime(clock: FakeClock, ms: number, isQuiet: () => boolean): Promise<void> {
  const startedAt = clock.now();
  for (;;) {
    await waitUntilQuiet(isQuiet);
    const passedMs = clock.now() - startedAt;
    if (passedMs >= ms) return;
    await clock.advance(Math.min(ms - passedMs, Math.max(minStepMs, Math.min(15_000, passedMs / 50))));
  }
}

async function countByLastFact(
  store: ReturnType<typeof memory>,
  sessions: ReadonlyMap<string, string>,
  type: "waiting" | "done",
): Promise<number> {
  let count = 0;
  for (const sessionId of sessions.values()) {
    const facts = (await store.getSession(sessionId))?.facts ?? 0;
    const [last] = await store.read(sessionId, facts - 1);
    if (last?.type === type) count += 1;
  }
  return count;
}
