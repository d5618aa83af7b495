import { describe, expect, it } from "vitest";
import { defineAgent } from "../kernel/agent.ts";
import type { Event } from "../kernel/event.ts";
import type { AssistantPart } from "../kernel/history.ts";
import { defineTool } from "../kernel/tool.ts";
import { run } from "../runtime/run.ts";
import { memory } from "../stores/memory.ts";
import { fakeClock } from "../testing/fake-clock.ts";
import { scriptedModel } from "../testing/scripted-model.ts";
import { reasoningLog } from "./reasoning-log.ts";

const look = defineTool({
  name: "look",
  description: "Looks",
  input: { type: "object" },
  execute: () => "seen",
});

const head = "2026-01-01T00:00:00.000Z r a Turn 1\n";

/** Returns the block written for one message. */
function formatReasoning(parts: readonly AssistantPart[], secrets: readonly string[] = []): string {
  let text = "";
  const sink = reasoningLog(
    (block) => {
      text += block;
    },
    { secrets },
  );
  const origin = {
    runId: "r",
    sessionId: "s",
    agent: "a",
    turn: 1,
    seq: 1,
    at: Date.UTC(2026, 0, 1),
    id: "f",
  };
  const usage = { inputTokens: 1, outputTokens: 1 };
  sink({
    ...origin,
    type: "message",
    entry: { type: "assistant", parts },
    model: "m",
    usage,
    ms: 1,
    stopReason: "end",
  });
  return text;
}

const createReasoning = (text: string): AssistantPart => ({ type: "reasoning", text });

describe("reasoningLog", () => {
  it("contains only the reasoning of each turn, with its agent (S3-47, S4-10, C-21)", async () => {
    const blocks: string[] = [];
    const model = scriptedModel([
      { reasoning: "I must look.\nAt once.", text: "Wait.", calls: [{ name: "look" }], split: 4 },
      { calls: [{ name: "look" }] },
      { reasoning: "Enough.", text: "Done." },
    ]);
    const onEvent = reasoningLog((block) => blocks.push(block));
    const options = { runId: "r1", store: memory(), clock: fakeClock(), hooks: { onEvent } };
    const result = await run(defineAgent({ name: "helper", model, tools: [look] }), "Go", options);
    expect(blocks).toEqual([
      "2026-01-01T00:00:00.000Z r1 helper Turn 1\n  I must look.\n  At once.\n",
      "2026-01-01T00:00:00.000Z r1 helper Turn 3\n  Enough.\n",
    ]);
    expect(result.text).toBe("Done.");
  });

  it("writes several reasoning parts of a message as one block, and nothing for opaque ones", () => {
    const opaque: AssistantPart = { type: "reasoning", text: "", opaque: "encrypted" };
    expect(formatReasoning([createReasoning("One."), opaque, createReasoning("Two.\r\n\tThree.")])).toBe(
      `${head}  One.\n  Two.\n    Three.\n`,
    );
    expect(formatReasoning([opaque, { type: "text", text: "Hi." }])).toBe("");
  });

  it("ignores everything except messages", () => {
    const sink = reasoningLog(() => expect.unreachable());
    sink({ type: "reasoning_delta", delta: "hm", runId: "r", sessionId: "s", agent: "a", turn: 1 } as Event);
  });

  it("reasoning cannot imitate a heading or move the cursor (A124)", () => {
    const text = formatReasoning([createReasoning(`x\n${head}\u001b[2J\r\u2028y\u0085z`)]);
    expect(text).toBe(`${head}  x\n  ${head}  \\u001b[2J\\u000d\\u2028y\\u0085z\n`);
  });

  it("masks secrets, also across two lines (A110)", () => {
    expect(formatReasoning([createReasoning("It is two\nlines.")], ["two\nlines"])).toBe(
      `${head}  It is ***.\n`,
    );
  });
});
