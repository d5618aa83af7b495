import { describe, expect, it } from "vitest";
import type { Effect, ToolEffect } from "../kernel/effect.ts";
import type { FactBody } from "../kernel/event.ts";
import { defaultPolicy } from "../kernel/policy.ts";
import { withJournal } from "./steps.ts";

const call: ToolEffect = {
  type: "tool",
  id: "call.c1",
  agent: "helper",
  callId: "c1",
  name: "look",
  input: { at: "sky" },
  attempt: 2,
  timeoutMs: 1000,
  deadlineMs: 1e9,
  retry: defaultPolicy.retry,
};
const ask: Effect = {
  type: "model",
  id: "turn.1.0",
  agent: "helper",
  turn: 1,
  candidate: 0,
  hasMoreRoom: false,
  continueAfter: [],
  maxTurns: 10,
  messageCount: 1,
  tools: "offered",
  chain: "main",
  notes: ["Hurry."],
  thinking: false,
  timeoutMs: 1000,
  deadlineMs: 1e9,
  retry: { ...defaultPolicy.modelRetry, failingMs: 0, suspensions: 0, hasAlternative: false },
};
const warningFact: FactBody = { type: "warning", code: "x", message: "y" };
const note: Effect = { type: "note", id: "n", facts: [warningFact] };
const { signal } = new AbortController();

/** Records appends and the order of events. Fails at the given append. */
function journal(happened: unknown[], failAt?: number) {
  let appends = 0;
  const append = async (facts: readonly FactBody[], place: string) => {
    appends += 1;
    if (appends === failAt) throw new Error("disk full");
    happened.push(...facts.map((fact) => `${place} ${fact.type}`));
  };
  return { append, appendResult: append };
}

describe("withJournal", () => {
  it("stores the intent, performs the effect and stores the result, in this order (S3-14)", async () => {
    const happened: unknown[] = [];
    const step = withJournal(async () => {
      happened.push("performed");
      return [warningFact];
    }, journal(happened));
    expect(await step(call, signal)).toEqual([warningFact]);
    expect(happened).toEqual(["call.c1 tool_call_start", "performed", "call.c1 warning"]);
  });

  it.each([
    [call, [{ type: "tool_call_start", id: "c1", name: "look", arguments: { at: "sky" }, attempt: 2 }]],
    [
      ask,
      [
        {
          type: "turn_start",
          turn: 1,
          maxTurns: 10,
          messageCount: 1,
          tools: "offered",
          chain: "main",
          notes: ["Hurry."],
        },
      ],
    ],
    [note, []],
  ])("the intent of $type says all that a later fold needs", async (effect, intent) => {
    const stored: FactBody[] = [];
    const append = async (facts: readonly FactBody[]) => void stored.push(...facts);
    const step = withJournal(async () => [], { append, appendResult: append });
    await step(effect, signal);
    expect(stored).toEqual(intent);
  });

  it("does not perform an effect whose intent could not be stored, and rejects with the journal's error", async () => {
    const happened: unknown[] = [];
    const step = withJournal(
      async () => {
        happened.push("performed");
        return [];
      },
      journal(happened, 1),
    );
    await expect(step(call, signal)).rejects.toThrow("disk full");
    expect(happened).toEqual([]);
  });

  it("rejects when the result could not be stored, because the effect did not fail", async () => {
    const happened: unknown[] = [];
    const step = withJournal(async () => [warningFact], journal(happened, 2));
    await expect(step(call, signal)).rejects.toThrow("disk full");
    expect(happened).toEqual(["call.c1 tool_call_start"]);
  });

  it("starts nothing but notes once the run is cancelled (F56)", async () => {
    const happened: unknown[] = [];
    const step = withJournal(async (effect) => {
      happened.push(`performed ${effect.type}`);
      return effect.type === "note" ? effect.facts : [];
    }, journal(happened));
    const gone = AbortSignal.abort();
    expect(await step(call, gone)).toEqual([]);
    expect(await step(ask, gone)).toEqual([]);
    expect(await step(note, gone)).toEqual([warningFact]);
    expect(happened).toEqual(["performed note", "n warning"]);
  });
});
