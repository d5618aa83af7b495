import { defaultPolicy, type Fact } from "capstan";
import type { FactBody } from "capstan/internal/verification";
import { describe, expect, it } from "vitest";
import { checkTrial } from "./check-trial.ts";
import type { TraceLine } from "./execution-trace.ts";

const usage = { inputTokens: 0, outputTokens: 0 };

/** A run with one call of `tool`, up to its end. */
function logOf(tool: string, status: "ok" | "interrupted" = "ok"): Fact[] {
  const call = { type: "call", id: "call_1_0", name: tool, input: {} } as const;
  const result = { id: call.id, name: tool, result: "", is_error: status !== "ok", attempts: 1, ms: 0 };
  const bodies: FactBody[] = [
    { type: "run_start", input: [], policy: defaultPolicy, timeZone: "UTC" },
    {
      type: "message",
      entry: { type: "assistant", parts: [call] },
      model: "m",
      usage,
      ms: 0,
      stopReason: "end",
    },
    { type: "tool_call_start", id: call.id, name: tool, arguments: {}, attempt: 1 },
    { type: "tool_call_result", ...result, status },
    { type: "done", status: "done", text: "", usage, cost: 0, grounded: true },
  ];
  return bodies.map((body, index) => {
    const origin = { runId: "r", sessionId: "r", agent: "planned", turn: 1, at: 0, seq: index + 1 };
    return { id: body.type, ...body, ...origin } as Fact;
  });
}

function execution(tool: string, ...whats: ("begin" | "effect" | "end")[]): TraceLine[] {
  return whats.map((what) => ({ what, key: "r/call_1_0", tool, pid: 1 }));
}

function toldOf({ runId, seq, type, id }: Fact): TraceLine {
  return { what: "acknowledged", runId, seq, type, id };
}

const findProblems = (facts: readonly Fact[], lines: readonly TraceLine[]) =>
  checkTrial(new Map([["r", facts]]), lines).problems;

describe("the check of a trial", () => {
  it("accepts a complete run", () => {
    const facts = logOf("pay");
    const lines = [...execution("pay", "begin", "effect", "end"), ...facts.map(toldOf)];
    expect(findProblems(facts, lines)).toEqual([]);
    expect(findProblems(logOf("pay", "interrupted"), execution("pay", "begin", "effect"))).toEqual([]);
  });

  it("finds a run that did not end, and a missing one", () => {
    const facts = logOf("pay").slice(0, 3);
    expect(findProblems(facts, [])).toEqual([
      "r: lost: the last fact is tool_call_start",
      "r: call_1_0 (pay) is without a result",
    ]);
    expect(checkTrial(new Map(), facts.map(toldOf)).problems).toEqual(["r: acknowledged but missing"]);
  });

  it("finds an acknowledged fact that is missing, and a gap", () => {
    const facts = logOf("look");
    const lines = [...execution("look", "begin", "effect", "end"), ...facts.map(toldOf)];
    const without = facts.filter(({ type }) => type !== "message");
    const problems = findProblems(without, lines);
    expect(problems).toContain("r: fact 2 has number 3");
    expect(problems).toContain("r: acknowledged fact 2 (message) is missing");
  });

  it("finds calls that ran twice, without an intent, or after their result", () => {
    const twice = execution("pay", "begin", "effect", "begin", "effect", "end");
    expect(findProblems(logOf("pay"), twice)).toEqual([
      "r: call_1_0 (pay) was executed 2 times for 1 intents",
      "r: call_1_0 (pay) was executed 2 times but must not be repeated",
    ]);
    const facts = logOf("look");
    const late = [
      ...execution("look", "begin", "effect", "end"),
      ...facts.map(toldOf),
      ...execution("look", "begin"),
    ];
    expect(findProblems(facts, late)).toContain("r: r/call_1_0 started again after its result was stored");
  });

  it("finds a result without an execution, an interrupted repeatable call, and an unknown key", () => {
    expect(findProblems(logOf("look"), [])).toEqual(["r: call_1_0 (look) has a result but was not executed"]);
    expect(findProblems(logOf("charge", "interrupted"), execution("charge", "begin"))).toEqual([
      "r: call_1_0 (charge) is interrupted",
    ]);
    const strange: TraceLine = { what: "begin", key: "r/other", tool: "look", pid: 1 };
    expect(findProblems(logOf("look"), [strange, ...execution("look", "begin", "end")])).toEqual([
      'r: "r/other" is not the key of a call of look',
    ]);
  });

  it("accepts a quarantined run only after crashes during which it was alone, without progress in between", () => {
    const error = { code: "quarantined", message: "", retryable: false };
    const [start] = logOf("look");
    const end = { ...logOf("look").at(-1), status: "failed", error } as Fact;
    const lost = { ...start, type: "recovered", owner: "w" } as Fact;
    const alone = { ...lost, alone: true } as Fact;
    const soloEnd = { ...start, type: "solo_end" } as Fact;
    const [, message] = logOf("look");
    const numbered = (facts: (Fact | undefined)[]) =>
      facts.map((fact, index) => ({ ...fact, seq: index + 1 }) as Fact);
    const often = numbered([start, lost, alone, alone, alone, lost, end]);
    expect(checkTrial(new Map([["r", often]]), [])).toMatchObject({ problems: [], quarantined: 1 });
    for (const facts of [
      [start, lost, lost, lost, lost, lost, lost, lost, end],
      [start, lost, alone, alone, alone, soloEnd, lost, end],
      [
        start,
        lost,
        alone,
        alone,
        alone,
        { ...message, entry: { type: "assistant", parts: [] } } as Fact,
        lost,
        end,
      ],
    ])
      expect(findProblems(numbered(facts), [])).toEqual(["r: ended as failed: "]);
  });
});
