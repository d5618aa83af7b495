import { beforeEach, describe, expect, it } from "vitest";
import type { FactBody, UnplacedFact } from "../../kernel/event.ts";
import type { Usage } from "../../kernel/model.ts";
import { defaultPolicy } from "../../kernel/policy.ts";
import { createFactId } from "../../runtime/facts.ts";
import type { RunQuery } from "../../runtime/run-catalog.ts";
import type { Store } from "../../runtime/store.ts";
import { acquireTestLease, createDoneFact, createStartFact, createWaitingFact } from "./facts-for-suite.ts";

type Place = {
  readonly sessionId: string;
  readonly runId: string;
  readonly agent?: string;
  readonly parentRunId?: string;
};

let facts = 0;

/** A fact with its own id. */
export function createOwnFact(
  { agent = "a", ...place }: Place,
  body: FactBody,
  at = 0,
  turn = 0,
): UnplacedFact {
  facts += 1;
  const id = createFactId(body, { runId: place.runId, retries: 0 }, String(facts));
  return { ...body, ...place, agent, turn, at, id };
}

export function createStart(
  place: Place,
  text: string,
  { at = 0, ...options }: { at?: number; tags?: string[]; agentVersion?: string } = {},
): UnplacedFact {
  const input = text === "" ? [] : ([{ type: "user", content: text }] as const);
  return createOwnFact(
    place,
    { type: "run_start", input, policy: defaultPolicy, timeZone: "UTC", ...options },
    at,
  );
}

export function createAnswerFact(
  place: Place,
  usage: Usage,
  { turn = 1, model = "m1", text = "An answer." }: { turn?: number; model?: string; text?: string } = {},
): UnplacedFact {
  const entry = { type: "assistant", parts: [{ type: "text", text }] } as const;
  return createOwnFact(place, { type: "message", entry, model, usage, ms: 1, stopReason: "end" }, 5, turn);
}

export function createResult(place: Place, name: string, text = "ok"): UnplacedFact {
  const call = { id: `c${facts}`, attempts: 1, ms: 1, status: "ok", is_error: false } as const;
  return createOwnFact(place, { type: "tool_call_result", name, result: text, ...call }, 6);
}

export function createEnd(
  place: Place,
  at: number,
  end: Partial<Extract<FactBody, { type: "done" }>> = {},
): UnplacedFact {
  const done = { status: "done", text: "", cost: 0, grounded: false, usage: spend(0, 0), ...end } as const;
  return createOwnFact(place, { type: "done", ...done }, at, 2);
}

const spend = (inputTokens: number, outputTokens: number, rest: Partial<Usage> = {}): Usage => ({
  inputTokens,
  outputTokens,
  ...rest,
});

/** Summaries of runs, and the feedback on them. */
export function summariesSuite(getStore: () => Store): void {
  let store: Store;
  beforeEach(() => {
    store = getStore();
  });

  async function append(sessionId: string, added: readonly UnplacedFact[]): Promise<void> {
    const lease = await acquireTestLease(store, sessionId);
    const expected = (await store.getSession(sessionId))?.facts ?? 0;
    await store.append(added, { expected, lease });
    await store.release(lease);
  }
  const listIds = async (query?: RunQuery) => (await store.queryRuns(query)).runs.map(({ runId }) => runId);

  describe("a summary", () => {
    const place = { sessionId: "ann~s1", runId: "r1", agent: "guide" };

    it("adds up the facts of a run while it runs and when it has ended", async () => {
      const options = { at: 10, tags: ["prod", '\u0000 ["x"]'], agentVersion: "abc" };
      await append(place.sessionId, [createStart(place, "\n Where is\tgate A1? \nPlease.", options)]);
      const before = { runId: "r1", sessionId: "ann~s1", agent: "guide", agentVersion: "abc", user: "ann" };
      expect((await store.queryRuns()).runs).toEqual([
        {
          ...before,
          ...{ state: "active", startedAt: 10, updatedAt: 10, turns: 0, toolCalls: 0, tools: [], models: [] },
          ...{ usage: spend(0, 0), cost: 0, tags: options.tags, title: "Where is gate A1?" },
        },
      ]);
      await append(place.sessionId, [
        createAnswerFact(place, spend(10, 2, { cost: 0.5, cachedTokens: 4 })),
        createResult(place, "find"),
        createResult(place, "find"),
        createAnswerFact(place, spend(20, 3, { cost: 0.25, unpriced: true }), { turn: 2, model: "m2" }),
        createResult(place, "route"),
      ]);
      expect((await store.queryRuns()).runs).toMatchObject([
        {
          ...before,
          ...{ state: "active", turns: 2, toolCalls: 3, tools: ["find", "route"], models: ["m1", "m2"] },
          ...{ usage: spend(30, 5, { cost: 0.75, cachedTokens: 4, unpriced: true }), cost: 0.75 },
          stopReason: "end",
        },
      ]);
      const error = { code: "provider_error", message: "", retryable: true };
      const usage = spend(31, 6, { cost: 0.8 });
      await append(place.sessionId, [createEnd(place, 110, { status: "failed", error, usage, cost: 0.8 })]);
      const [ended] = (await store.queryRuns()).runs;
      expect(ended).toEqual({
        ...before,
        ...{ state: "ended", status: "failed", errorCode: "provider_error", stopReason: "end" },
        ...{ startedAt: 10, updatedAt: 110, endedAt: 110, ms: 100, turns: 2, toolCalls: 3 },
        ...{ tools: ["find", "route"], models: ["m1", "m2"], usage, cost: 0.8, tags: options.tags },
        title: "Where is gate A1?",
      });
      await append(place.sessionId, [createOwnFact(place, { type: "retried" }, 120)]);
      const [continued] = (await store.queryRuns()).runs;
      expect(continued).toMatchObject({ state: "active", usage, cost: 0.8 });
      for (const field of ["status", "errorCode", "endedAt", "ms"])
        expect(continued).not.toHaveProperty(field);
    });

    it("counts nested runs in their root, and does not list them", async () => {
      const nested = { ...place, runId: "r1~c1", agent: "expert", parentRunId: "r1" };
      const deeper = { ...place, runId: "r1~c1~c2", agent: "deep", parentRunId: "r1~c1" };
      await append(place.sessionId, [
        ...[createStart({ ...place, runId: "r0" }, "Before"), createEnd({ ...place, runId: "r0" }, 1)],
        ...[createStart(place, "Go"), createAnswerFact(place, spend(1, 1))],
        ...[createStart(nested, "Nested"), createAnswerFact(nested, spend(10, 1), { turn: 7, model: "m9" })],
        ...[createStart(deeper, "Deeper"), createResult(deeper, "dig"), createEnd(deeper, 8)],
        ...[createEnd(nested, 9, { status: "failed" }), createResult(place, "expert")],
      ]);
      const [run, ...others] = (await store.queryRuns()).runs;
      expect(run).toMatchObject({ runId: "r1", agent: "guide", state: "active", turns: 1, title: "Go" });
      expect(run).toMatchObject({ toolCalls: 2, tools: ["dig", "expert"], models: ["m1", "m9"] });
      expect(run).toMatchObject({ usage: spend(11, 2) });
      expect(run).not.toHaveProperty("status");
      expect(others).toMatchObject([{ runId: "r0", toolCalls: 0, usage: spend(0, 0) }]);
    });

    it("counts a fact once that is appended again", async () => {
      const lease = await acquireTestLease(store, place.sessionId);
      const added = [
        createStart(place, "Go"),
        createAnswerFact(place, spend(1, 1)),
        createResult(place, "find"),
      ];
      await store.append(added, { expected: 0, lease });
      await store.append(added.slice(1), { expected: 1, lease });
      await store.append([...added, createResult(place, "find")], { expected: 3, lease });
      expect((await store.queryRuns()).runs).toMatchObject([{ toolCalls: 2, usage: spend(1, 1) }]);
    });

    it("has a short title without control characters, whatever the input is", async () => {
      const texts = ["", " \n\t ", "x".repeat(500), "a\u0000b \ud800 c"];
      for (const [index, text] of texts.entries())
        await append(`s${index}`, [createStart({ sessionId: `s${index}`, runId: `r${index}` }, text)]);
      const titles = (await store.queryRuns({ order: "asc" })).runs.map(({ title }) => title);
      expect(titles).toEqual(["", "", `${"x".repeat(119)}…`, "a b \ufffd c"]);
    });

    it("is deleted with its session, and so is its feedback", async () => {
      const ended = { ...place, runId: "r0" };
      await append(place.sessionId, [
        createStart(ended, "Go"),
        createEnd(ended, 9),
        createStart(place, "Go"),
      ]);
      await store.putFeedback("r1", { rating: "up", at: 1 });
      await store.remove(place.sessionId);
      expect(await listIds()).toEqual([]);
      expect((await store.summarizeRuns({ bucketMs: 10 })).total.runs).toBe(0);
      await append(place.sessionId, [createStart(place, "Go")]);
      expect((await store.queryRuns()).runs[0]).not.toHaveProperty("feedback");
      await append("s2", [createStart({ sessionId: "s2", runId: "r2" }, "Later")]);
      expect(await listIds({ order: "asc" })).toEqual(["r1", "r2"]);
    });

    it("of a session that is written at once appears when it is complete", async () => {
      const lease = await acquireTestLease(store, place.sessionId);
      await store.writeSession({ lease }, async (writer) => {
        await writer.append([createStart(place, "Go"), createAnswerFact(place, spend(3, 4))]);
        expect(await listIds()).toEqual([]);
        await writer.append([createEnd(place, 20, { usage: spend(3, 4) })]);
      });
      expect((await store.queryRuns()).runs).toMatchObject([
        { runId: "r1", sessionId: "ann~s1", state: "ended", status: "done", usage: spend(3, 4), user: "ann" },
      ]);
    });
  });

  describe("runs of all sessions", () => {
    /** Six runs in three scopes, with different costs, durations, models, tools, tags and states. */
    beforeEach(async () => {
      for (let index = 0; index < 6; index++) {
        const sessionId = `${["ann~", "bob~", ""][index % 3]}s${index}`;
        const place = { sessionId, runId: `r${index}`, agent: index < 4 ? "guide" : "clerk" };
        const usage = spend(index === 3 ? 1_000 : 100 - index, 1);
        const started = [
          createStart(place, index === 2 ? "Find a rareword" : "A common question", {
            at: 1_000 + index * 100,
            tags: index % 2 === 0 ? ["even", "prod"] : ["odd"],
            agentVersion: `v${index % 2}`,
          }),
          createAnswerFact(place, usage, { model: index === 1 ? "big" : "small", turn: 1 }),
          createResult(place, index === 4 ? "mail" : "find", index === 5 ? "needle in a result" : "ok"),
        ];
        const error = { code: "timeout", message: "", retryable: true };
        const isFailed = index === 3;
        const end = createEnd(place, 1_000 + index * 100 + (6 - index) * 50, {
          ...{ status: isFailed ? "failed" : "done", usage, cost: ((index * 2) % 5) / 4 },
          ...(isFailed && { error }),
        });
        const last = { 4: createWaitingFact(sessionId, place.runId, "0", 1_500), 5: undefined }[index] ?? end;
        await append(sessionId, [...started, ...(index === 5 ? [] : [last as UnplacedFact])]);
      }
    });

    it("are listed with the newest first, in pages", async () => {
      expect(await listIds()).toEqual(["r5", "r4", "r3", "r2", "r1", "r0"]);
      const first = await store.queryRuns({ limit: 4 });
      expect(first.runs.map(({ runId }) => runId)).toEqual(["r5", "r4", "r3", "r2"]);
      const second = await store.queryRuns({ limit: 4, cursor: first.next });
      expect(second.runs.map(({ runId }) => runId)).toEqual(["r1", "r0"]);
      expect(second).not.toHaveProperty("next");
      expect(await store.queryRuns({ limit: 6 })).not.toHaveProperty("next");
      expect(await listIds({ limit: 0 })).toEqual([]);
    });

    it.each([
      ["startedAt", "asc", ["r0", "r1", "r2", "r3", "r4", "r5"]],
      ["cost", "desc", ["r2", "r1", "r3", "r5", "r4", "r0"]],
      ["cost", "asc", ["r0", "r4", "r5", "r3", "r1", "r2"]],
      ["ms", "desc", ["r0", "r1", "r2", "r3", "r5", "r4"]],
      ["tokens", "desc", ["r3", "r0", "r1", "r2", "r4", "r5"]],
      ["turns", "desc", ["r3", "r2", "r1", "r0", "r5", "r4"]],
    ] as const)("are sorted by %s, %s, also across pages", async (sort, order, expected) => {
      expect(await listIds({ sort, order })).toEqual(expected);
      const paged: string[] = [];
      for (let cursor: string | undefined; paged.length < 6; ) {
        const page = await store.queryRuns({ sort, order, limit: 1, cursor });
        paged.push(...page.runs.map(({ runId }) => runId));
        cursor = page.next;
      }
      expect(paged).toEqual(expected);
    });

    it.each<[RunQuery, readonly string[]]>([
      [{ scope: "ann" }, ["r3", "r0"]],
      [{ scope: "" }, ["r5", "r2"]],
      [{ scope: "nobody" }, []],
      [{ sessionId: "bob~s4" }, ["r4"]],
      [{ newestOf: ["bob~s4", "s5", "absent"] }, ["r5", "r4"]],
      [{ newestOf: ["ann~s0", "ann~s3"], status: "failed" }, ["r3"]],
      [{ newestOf: [] }, []],
      [{ agent: "clerk" }, ["r5", "r4"]],
      [{ version: "v1" }, ["r5", "r3", "r1"]],
      [{ status: "failed" }, ["r3"]],
      [{ status: "done" }, ["r2", "r1", "r0"]],
      [{ state: "active" }, ["r5"]],
      [{ state: "waiting" }, ["r4"]],
      [{ state: "ended" }, ["r3", "r2", "r1", "r0"]],
      [{ stopReason: "end", agent: "clerk" }, ["r5", "r4"]],
      [{ stopReason: "refusal" }, []],
      [{ error: "timeout" }, ["r3"]],
      [{ model: "big" }, ["r1"]],
      [{ model: "bi" }, []],
      [{ tool: "mail" }, ["r4"]],
      [{ tag: "even", agent: "guide" }, ["r2", "r0"]],
      [{ tag: "eve" }, []],
      [{ from: 1_200, to: 1_400 }, ["r3", "r2"]],
      [{ minCost: 0.75 }, ["r2"]],
      [{ minMs: 200 }, ["r2", "r1", "r0"]],
      [{ q: "RARE" }, ["r2"]],
      [{ q: "common question", scope: "ann" }, ["r3", "r0"]],
      [{ q: "needle" }, ["r5"]],
      [{ q: "absent" }, []],
      [{ q: "?!" }, []],
      [{ q: "common", tool: "find", status: "done", sort: "cost" }, ["r1", "r0"]],
    ])("are filtered by %j", async (query, expected) => {
      expect(await listIds(query)).toEqual(expected);
      const { total } = await store.summarizeRuns({ ...query, bucketMs: 1_000 });
      expect(total.runs).toBe(expected.length);
    });

    it("are filtered by feedback, which can be replaced and removed", async () => {
      const feedback = {
        rating: "down",
        note: "\u0000 wrong",
        correction: "Gate B2",
        by: "ann",
        at: 7,
      } as const;
      await store.putFeedback("r3", feedback);
      await store.putFeedback("r1", { note: "hm", at: 8 });
      await store.putFeedback("r0", { rating: "up", at: 9 });
      expect((await store.queryRuns({ feedback: "down" })).runs).toMatchObject([{ runId: "r3", feedback }]);
      expect(await listIds({ feedback: "up" })).toEqual(["r0"]);
      expect(await listIds({ feedback: "none" })).toEqual(["r5", "r4", "r2"]);
      await store.putFeedback("r3", { rating: "up", at: 10 });
      expect((await store.queryRuns({ feedback: "up" })).runs).toMatchObject([
        { runId: "r3", feedback: { rating: "up", at: 10 } },
        { runId: "r0" },
      ]);
      await store.putFeedback("r3", undefined);
      expect(await listIds({ feedback: "none" })).toContain("r3");
      await expect(store.putFeedback("nobody", { at: 1 })).rejects.toMatchObject({ code: "unknown_run" });
    });

    it("are added up by time, agent, model and tool", async () => {
      const { total, buckets, agents, models, tools } = await store.summarizeRuns({ bucketMs: 200 });
      expect(total).toEqual({ runs: 6, failed: 1, cost: 1.75, tokens: 1_494, ...closeTo(200, 300) });
      expect(buckets).toEqual([
        { at: 1_000, runs: 2, failed: 0, cost: 0.5, tokens: 201, ...closeTo(250, 300) },
        { at: 1_200, runs: 2, failed: 1, cost: 1.25, tokens: 1_100, ...closeTo(150, 200) },
        { at: 1_400, runs: 2, failed: 0, cost: 0, tokens: 193 },
      ]);
      expect(agents).toEqual([
        { name: "guide", runs: 4, failed: 1, cost: 1.75, tokens: 1_301 },
        { name: "clerk", runs: 2, failed: 0, cost: 0, tokens: 193 },
      ]);
      expect(models.map(({ name, runs }) => [name, runs])).toEqual([
        ["small", 5],
        ["big", 1],
      ]);
      expect(tools.map(({ name, runs }) => [name, runs])).toEqual([
        ["find", 5],
        ["mail", 1],
      ]);
    });

    it("are refused with a name for a cursor of another order and for too short periods", async () => {
      const { next } = await store.queryRuns({ limit: 1 });
      for (const query of [
        { cursor: next, sort: "cost" },
        { cursor: next, order: "asc" },
        { cursor: "x" },
        { cursor: "startedAt~desc~~" },
      ] as const)
        await expect(store.queryRuns(query)).rejects.toMatchObject({ code: "invalid_input" });
      for (const bucketMs of [0, -1, Number.NaN])
        await expect(store.summarizeRuns({ bucketMs })).rejects.toMatchObject({ code: "invalid_input" });
    });

    it("are not mixed up with runs that the suite of sessions knows", async () => {
      await append("s9", [createStartFact("s9", "r9", 9_000), createDoneFact("s9", "r9", 9_001)]);
      expect((await store.queryRuns({ limit: 1 })).runs).toMatchObject([{ runId: "r9", title: "", ms: 1 }]);
    });
  });
}

/** Durations are known to within 1 %. */
function closeTo(p50Ms: number, p95Ms: number): object {
  const near = (ms: number) => ({
    asymmetricMatch: (other: unknown) => Math.abs(Number(other) / ms - 1) <= 0.011,
    toString: () => `close to ${ms}`,
  });
  return { p50Ms: near(p50Ms), p95Ms: near(p95Ms) };
}
