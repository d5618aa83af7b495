import { describe, expect, it } from "vitest";
import { defineAgent } from "../kernel/agent.ts";
import type { Event, Fact, FactBody } from "../kernel/event.ts";
import { defineTool } from "../kernel/tool.ts";
import { run } from "../runtime/run.ts";
import { fakeClock } from "../testing/fake-clock.ts";
import { scriptedModel } from "../testing/scripted-model.ts";
import { type ReadableLogOptions, readableLog } from "./readable-log.ts";

const at = Date.UTC(2026, 0, 1);
const origin = { runId: "r", sessionId: "s", agent: "a", turn: 1, seq: 1, at, id: "f" };
const createFact = (body: FactBody): Fact => ({ ...origin, ...body }) as Fact;
const usage = { inputTokens: 10, outputTokens: 5 };

/** Returns the log line of an event without time and run. */
function formatLogLine(event: Event, options?: ReadableLogOptions): string {
  let output = "";
  readableLog((line) => {
    output += line;
  }, options)(event);
  return output.replace("2026-01-01T00:00:00.000Z r ", "");
}

describe("readableLog", () => {
  it("writes a run in short lines: start, turns, calls, results, end (S4-13, S4-51)", async () => {
    const lines: string[] = [];
    const weather = defineTool({
      name: "weather",
      description: "Weather",
      input: { type: "object" },
      effects: "none",
      execute({ city }) {
        if (city === "Nowhere") throw new Error("No such city.");
        return `${city}: 7 °C`;
      },
    });
    const calls = [
      { id: "c1", name: "weather", input: { city: "Oslo" } },
      { id: "c2", name: "weather", input: { city: "Nowhere" } },
      { id: "c3", name: "wether" },
    ];
    const model = scriptedModel([{ text: "Let me see.", reasoning: "hm", calls }, { text: "Cold." }]);
    await run(defineAgent({ name: "helper", model, tools: [weather] }), "Do I need a coat?", {
      ...{ session: "s1", runId: "r1", clock: fakeClock({ skipUpToMs: 5000 }), policy: { maxTurns: 3 } },
      hooks: { onEvent: readableLog((line) => lines.push(line)) },
    });
    expect(lines.join("")).toMatchInlineSnapshot(`
      "2026-01-01T00:00:00.000Z r1 Start of helper in session s1: "Do I need a coat?"
      2026-01-01T00:00:00.000Z r1 Turn 1/3 of helper
      2026-01-01T00:00:00.000Z r1 Message of scripted in 0 ms (tool_calls): "Let me see."
      2026-01-01T00:00:00.000Z r1 Call c1: weather {"city":"Oslo"}
      2026-01-01T00:00:00.000Z r1 Call c2: weather {"city":"Nowhere"}
      2026-01-01T00:00:00.000Z r1 Call c3: wether {}
      2026-01-01T00:00:00.000Z r1 Result c3: wether error in 0 ms: unknown_tool "Unknown tool: no tool is named \\"wether\\". Did you mean \\"weather\\"?"
      2026-01-01T00:00:00.000Z r1 Result c1: weather ok in 0 ms: "Oslo: 7 °C"
      2026-01-01T00:00:01.000Z r1 Result c2: weather error in 0 ms after 2 attempts: tool_failed "No such city."
      2026-01-01T00:00:01.000Z r1 Turn 2/3 of helper
      2026-01-01T00:00:01.000Z r1 Message of scripted in 0 ms (end): "Cold."
      2026-01-01T00:00:01.000Z r1 End: done, 20 tokens in, 10 out: "Cold."
      "
    `);
  });

  it.each<[FactBody, string]>([
    [
      {
        type: "turn_start",
        turn: 3,
        maxTurns: "unlimited",
        messageCount: 1,
        tools: "offered",
        chain: "main",
        notes: [],
      },
      "Turn 3/unlimited of a",
    ],
    [
      {
        ...{ type: "model_failed", model: "m", candidate: 0, attempts: 1 },
        hadMoreRoom: false,
        error: { code: "model_failed", message: "Overloaded.", retryable: true },
      },
      'Model m failed after 1 attempt: model_failed "Overloaded."',
    ],
    [
      {
        type: "approval_required",
        callId: "c",
        name: "pay",
        input: { eur: 5 },
        shown: '{ "eur": 5 }',
        reason: "Costly.",
        digest: "d",
      },
      'Approval of c needed: pay {"eur":5} "Costly."',
    ],
    [{ type: "approval_resolved", callId: "c", approved: true }, "Approval of c given"],
    [
      {
        ...{ type: "approval_required", callId: "c", name: "book", input: {}, shown: "{}", digest: "d" },
        ...{ reason: "Which seat?", number: 1, question: { message: "Which seat?" } },
      },
      'Question of c: book asks "Which seat?"',
    ],
    [
      { type: "approval_resolved", callId: "c", approved: true, number: 1, value: { seat: "3A" } },
      'Question of c answered: {"seat":"3A"}',
    ],
    [
      { type: "approval_resolved", callId: "c", approved: false, number: 1, reason: "No." },
      'Question of c refused: "No."',
    ],
    [{ type: "approval_resolved", callId: "c", approved: false }, "Approval of c refused"],
    [
      { type: "approval_resolved", callId: "c", approved: false, reason: "No." },
      'Approval of c refused: "No."',
    ],
    [{ type: "waiting", callIds: ["c", "d"] }, "Waiting for c, d"],
    [{ type: "steered", entry: { type: "user", content: "Faster!" } }, 'Steered: "Faster!"'],
    [{ type: "cancel_requested", reason: "Enough." }, 'Cancel requested: "Enough."'],
    [
      { type: "limit_reached", code: "max_turns", message: "Too many.", turns: 3 },
      'Limit max_turns "Too many."',
    ],
    [{ type: "warning", code: "odd", message: "Mind this." }, 'Warning odd "Mind this."'],
    [
      { type: "error", code: "model_failed", message: "It broke.", retryable: false },
      'Error model_failed "It broke."',
    ],
    [{ type: "run_start", input: [], policy: {} as never, timeZone: "UTC" }, 'Start of a in session s: ""'],
  ])("formats %o (S4-51)", (body, words) => {
    expect(formatLogLine(createFact(body))).toBe(`${words}\n`);
  });

  it("omits deltas and turn ends", () => {
    expect(formatLogLine({ ...origin, type: "content_delta", delta: "x" } as never)).toBe("");
    expect(formatLogLine(createFact({ type: "turn_end", turn: 1, usage }))).toBe("");
  });

  it("omits reasoning (S4-51, C-21)", () => {
    const entry = {
      type: "assistant",
      parts: [
        { type: "reasoning", text: "I wonder." },
        { type: "text", text: "Yes." },
      ],
    } as const;
    const words = formatLogLine(
      createFact({ type: "message", entry, model: "m", usage, ms: 7, stopReason: "end" }),
    );
    expect(words).toBe('Message of m in 7 ms (end): "Yes."\n');
  });

  it("untrusted names and texts forge no line, move no cursor and cannot imitate the log's own text (A124)", () => {
    const hostile = "x\n2026-01-01T00:00:00.000Z r End: done\u001b[2K\u009b1A\u2028\ud800";
    const call = {
      type: "tool_call_start",
      id: hostile,
      name: hostile,
      arguments: { [hostile]: hostile },
      attempt: 1,
    } as const;
    const events = [
      { ...createFact(call), runId: hostile },
      {
        ...createFact({
          type: "turn_start",
          turn: 1,
          maxTurns: 2,
          messageCount: 1,
          tools: "offered",
          chain: "main",
          notes: [],
        }),
        agent: hostile,
      },
      createFact({ type: "error", code: hostile, message: hostile, retryable: false }),
      createFact({ type: "waiting", callIds: [hostile] }),
    ];
    for (const event of events) {
      const line = formatLogLine(event);
      expect(line).toMatch(/^[ -~]+\n$/);
      expect(line.replace(/"(?:[^"\\]|\\.)*"/g, "")).not.toContain("End");
    }
  });

  it("truncates names to 128 characters, arguments and texts to 200, never inside a character (A124)", () => {
    const call = { type: "tool_call_start", id: "c", attempt: 1 } as const;
    const long = formatLogLine(createFact({ ...call, name: "n".repeat(500), arguments: "a".repeat(500) }));
    expect(long).toBe(`Call c: "${"n".repeat(128)}…" "${"a".repeat(199)}…\n`);
    const text = formatLogLine(createFact({ type: "cancel_requested", reason: `${"a".repeat(199)}😀` }));
    expect(text).toBe(`Cancel requested: "${"a".repeat(199)}…"\n`);
  });

  it("masks secrets before truncating (A110, A112)", () => {
    const secret = "sk-0123456789";
    const options = { secrets: [secret] };
    const reason = `${"a".repeat(195)}${secret}${"b".repeat(20)}`;
    const cancelled = formatLogLine(createFact({ type: "cancel_requested", reason }), options);
    expect(cancelled).toBe(`Cancel requested: "${"a".repeat(195)}***bb…"\n`);
    const call = {
      type: "tool_call_start",
      id: secret,
      name: secret,
      arguments: { [secret]: secret },
      attempt: 1,
    } as const;
    expect(formatLogLine(createFact(call), options)).toBe('Call ***: *** {"***":"***"}\n');
  });
});
