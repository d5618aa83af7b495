import { agentTool, defineAgent, defineTool, type Fact, isFact, run, type Tool } from "capstan";
import { memory } from "capstan/stores/memory";
import { collect, fakeClock, type ScriptedStep, scriptedModel } from "capstan/testing";
import { array, assert, boolean, constantFrom, integer, property, record } from "fast-check";
import { describe, expect, it } from "vitest";
import { readCpuMs } from "../../../../capstan/src/testing/cpu-time.ts";
import { buildTimeline } from "./build-timeline.ts";
import { createRunScale } from "./time-scale.ts";
import type { Timeline, TimelineRun } from "./timeline.ts";
import { buildRows } from "./timeline-rows.ts";

const look = defineTool({
  name: "look",
  description: "Looks",
  input: { type: "object" },
  effects: "none",
  reads: ["public"],
  execute: () => "seen",
});
const write = defineTool({
  name: "write",
  description: "Writes",
  input: { type: "object" },
  needsApproval: "It writes.",
  execute: () => "done",
});

function createTestAgent(steps: ScriptedStep[], tools: readonly Tool[] = [look, write]) {
  return defineAgent({ name: "a", model: scriptedModel(steps), tools });
}

const createRunOptions = () => ({
  store: memory(),
  session: "s",
  runId: "r",
  clock: fakeClock({ skipUpToMs: 30_000 }),
});

async function collectRunFacts(...steps: ScriptedStep[]): Promise<Fact[]> {
  return (await collect(run(createTestAgent(steps), "Go", createRunOptions()))).events.filter(isFact);
}

/** Of all runs, also those inside others. */
function listAllRuns({ runs, nested }: Timeline): TimelineRun[] {
  return [...runs, ...[...nested.values()].flat()];
}

function formatTimeline(timeline: Timeline): string[] {
  return buildRows(timeline).map((row) => {
    if (row.type === "run") return `${row.run.question} (${row.run.status})`;
    const bars = row.bars.map(({ kind, label, state }) => `${kind} ${label} ${state}`).join(", ");
    return `${"  ".repeat(row.depth)}${row.type === "turn" ? `${row.turn.turn}: ` : "- "}${bars}`;
  });
}

describe("the timeline", () => {
  it("shows the settings of each turn, and marks those that the model ignores", async () => {
    const checkSettings = () => [{ field: "seed", message: "No seed.", isError: false }] as const;
    const model = { ...scriptedModel([{ text: "Hi" }]), checkSettings };
    const settings = { effort: "high", temperature: 0.7, seed: 7, stop: ["END"] } as const;
    const { events } = await collect(
      run(defineAgent({ name: "a", model, settings }), "Go", createRunOptions()),
    );
    const [turn] = buildTimeline(events.filter(isFact)).runs[0]?.turns ?? [];
    expect(turn?.bars[0]?.detail).toBe(
      '10 in · 5 out · effort high · temperature 0.7 · seed 7 · stop at ["END"]',
    );
    expect(turn?.marks).toMatchObject([{ label: "No seed.", isBad: true }]);
  });

  it("has a bar for each model call and each tool call, with failures marked", async () => {
    const facts = await collectRunFacts(
      { calls: [{ name: "look" }, { name: "look" }, { name: "nothing" }] },
      { error: "model_failed" },
      { text: "Seen." },
    );
    expect(formatTimeline(buildTimeline(facts))).toEqual([
      "Go (done)",
      expect.stringMatching(/^1: model scripted\S* ok$/),
      "- tool look ok",
      "- tool look ok",
      "- tool nothing error",
      expect.stringMatching(/^2: model scripted\S* ok$/),
    ]);
  });

  it("shows pending approvals, also while they wait", async () => {
    const running = run(
      createTestAgent([{ calls: [{ id: "c", name: "write" }] }, { text: "Done." }]),
      "Go",
      createRunOptions(),
    );
    const first = await collect(running);
    const facts = first.events.filter(isFact);
    expect(formatTimeline(buildTimeline(facts)).at(-1)).toBe("- waiting Approval running");
    running.approve("c");
    facts.push(...(await collect(running)).events.filter(isFact).filter(({ seq }) => seq > facts.length));
    expect(formatTimeline(buildTimeline(facts)).slice(2, 4)).toEqual([
      "- waiting Approval ok",
      "- tool write ok",
    ]);
    // A list that grew gives the same as one that is new.
    expect(buildTimeline(facts)).toEqual(buildTimeline([...facts]));
  });

  it("marks a retry, and the run goes on", async () => {
    const options = createRunOptions();
    const handle = run(createTestAgent([{ error: "model_auth" }, { text: "Seen." }]), "Go", options);
    await handle;
    await handle.retry();
    const facts = await options.store.read("s");
    const retried = facts.findIndex(({ type }) => type === "retried");
    expect(formatTimeline(buildTimeline(facts.slice(0, retried)))[0]).toBe("Go (failed)");
    expect(formatTimeline(buildTimeline(facts.slice(0, retried + 1)))[0]).toBe("Go (running)");
    const timeline = buildTimeline(facts);
    expect(formatTimeline(timeline)[0]).toBe("Go (done)");
    expect(timeline.runs[0]?.turns[0]?.marks.map(({ label }) => label)).toContain("Retried");
    expect(timeline.runs[0]?.turns[0]?.bars.map(({ state }) => state)).toEqual(["error", "ok"]);
  });

  it("puts nested runs below their call", async () => {
    const inner = defineAgent({
      name: "inner",
      model: scriptedModel([{ calls: [{ name: "look" }] }, { text: "In." }]),
      tools: [look],
    });
    const outer = createTestAgent(
      [{ calls: [{ name: "inner", input: { prompt: "Help" } }] }, { text: "Out." }],
      [agentTool(inner)],
    );
    const facts = (await collect(run(outer, "Go", createRunOptions()))).events.filter(isFact);
    expect(formatTimeline(buildTimeline(facts)).map((line) => line.replace(/scripted\S*/, "m"))).toEqual([
      "Go (done)",
      "1: model m ok",
      "- tool inner ok",
      "  1: model m ok",
      "  - tool look ok",
      "  2: model m ok",
      "2: model m ok",
    ]);
  });

  it("keeps every bar inside its turn, none negative, one per call, whatever the clock does", () => {
    assert(
      property(array(plannedTurn, { maxLength: 8 }), boolean(), (turns, isCut) => {
        const all = createPlannedFacts(turns);
        const facts = isCut ? all.slice(0, all.length / 2) : all;
        const timeline = buildTimeline(facts);
        for (const turn of listAllRuns(timeline).flatMap((one) => one.turns)) {
          for (const bar of turn.bars) {
            expect(bar.to).toBeGreaterThanOrEqual(bar.from);
            expect(bar.from).toBeGreaterThanOrEqual(turn.from);
            expect(bar.to).toBeLessThanOrEqual(turn.to);
          }
          for (const { at } of turn.marks) expect(at).toBeGreaterThanOrEqual(turn.from);
        }
        const said = new Set(facts.flatMap((fact) => formatCallKey(fact) ?? []));
        const bars = listAllRuns(timeline).flatMap((one) => one.turns.flatMap((turn) => turn.bars));
        expect(bars.filter(({ kind }) => kind === "tool")).toHaveLength(said.size);
        expect(new Set(bars.map(({ id }) => id)).size).toBe(bars.length);
        expect(timeline.locations.size).toBe(facts.length);
        for (const one of timeline.runs) {
          const scale = createRunScale(timeline, one, 0);
          const places = one.turns.flatMap((turn) =>
            turn.bars.flatMap(({ from, to }) => [scale(from), scale(to)]),
          );
          for (const place of places) expect(place >= 0 && place <= 1).toBe(true);
        }
      }),
      { numRuns: 200 },
    );
  });

  it("builds from 10,000 facts quickly", () => {
    const turns = Array.from({ length: 1500 }, () => ({
      model: 5,
      calls: [{ start: 1, ms: 4, waits: true, hasStart: true }],
    }));
    const facts = createPlannedFacts(turns);
    expect(facts.length).toBeGreaterThan(9000);
    const began = readCpuMs();
    expect(buildRows(buildTimeline(facts)).length).toBeGreaterThan(4000);
    expect(readCpuMs() - began).toBeLessThan(1000);
  });
});

const plannedTurn = record({
  model: integer({ min: -50, max: 500 }),
  calls: array(
    record({
      start: integer({ min: -20, max: 50 }),
      ms: constantFrom(-5, 0, 3, 900),
      waits: boolean(),
      hasStart: boolean(),
    }),
    { maxLength: 4 },
  ),
});

type PlannedTurn = Parameters<typeof createPlannedFacts>[0][number];

const formatCallKey = (fact: Fact) =>
  fact.type === "tool_call_start" || fact.type === "tool_call_result" ? `${fact.turn} ${fact.id}` : undefined;

function createPlannedFacts(
  turns: readonly {
    model: number;
    calls: readonly { start: number; ms: number; waits: boolean; hasStart: boolean }[];
  }[],
): Fact[] {
  const facts: Fact[] = [];
  let at = 1000;
  const add = (turn: number, passed: number, body: object) => {
    at += passed;
    const origin = { runId: "r", sessionId: "s", agent: "a", turn };
    facts.push({ ...origin, ...body, seq: facts.length + 1, at, id: String(facts.length) } as Fact);
  };
  add(0, 0, { type: "run_start", input: [] });
  for (const [index, turn] of turns.entries()) addTurn(add, index + 1, turn);
  add(turns.length, 0, { type: "done", status: "done", text: "" });
  return facts;
}

function addTurn(
  add: (turn: number, passed: number, body: object) => void,
  turn: number,
  { model, calls }: PlannedTurn,
): void {
  const usage = { inputTokens: 1, outputTokens: 1 };
  add(turn, 0, { type: "turn_start", turn });
  add(turn, model, { type: "message", model: "m", usage, ms: model, stopReason: "end" });
  for (const [id, { start, waits, hasStart }] of calls.entries()) {
    const call = { id: String(id), callId: String(id), name: "t" };
    if (waits) add(turn, 1, { type: "approval_required", ...call, reason: "" });
    if (waits) add(turn, start, { type: "approval_resolved", ...call, approved: true });
    if (hasStart) add(turn, start, { type: "tool_call_start", ...call, attempt: 1 });
  }
  for (const [id, { ms }] of calls.entries())
    add(turn, ms, { type: "tool_call_result", id: String(id), name: "t", status: "ok", attempts: 1, ms });
}
