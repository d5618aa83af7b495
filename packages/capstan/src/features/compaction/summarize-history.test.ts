import { describe, expect, it } from "vitest";
import { defineAgent, indexAgents } from "../../kernel/agent.ts";
import type { SummaryEffect } from "../../kernel/effect.ts";
import type { Entry, UserEntry } from "../../kernel/history.ts";
import type { Io } from "../../kernel/io.ts";
import { defaultPolicy } from "../../kernel/policy.ts";
import { createState } from "../../kernel/state.ts";
import { fakeClock } from "../../testing/fake-clock.ts";
import { type ScriptedStep, scriptedModel } from "../../testing/scripted-model.ts";
import { summarizeHistory } from "./summarize-history.ts";

async function summarizeEntries(history: Entry[], step: ScriptedStep, more: Partial<SummaryEffect> = {}) {
  const model = scriptedModel([step]);
  const io: Io = {
    agents: indexAgents(defineAgent({ name: "worker", model })),
    state: { ...createState("s"), history },
    clock: fakeClock(),
    context: undefined,
    hooks: {},
    emit: () => expect.unreachable("nothing of a summary is shown live"),
    resolveModel: (choice) => (typeof choice === "string" ? model : choice),
    blobs: { put: async () => "", get: async () => undefined },
  };
  const effect: SummaryEffect = {
    type: "summary",
    id: "compact.1.0",
    agent: "worker",
    number: 1,
    until: history.length,
    candidate: 0,
    maxInputCharacters: 100_000,
    maxSummaryCharacters: 1000,
    timeoutMs: 1000,
    deadlineMs: 1000,
    retry: { ...defaultPolicy.modelRetry, failingMs: 0, suspensions: 0, hasAlternative: false },
    ...more,
  };
  const facts = await summarizeHistory(effect, io, new AbortController().signal);
  const [asked] = (model.requests[0]?.history ?? []) as UserEntry[];
  const [, ...lines] = String(asked?.content).split("\n");
  return { facts, lines };
}

const answer = { text: "A summary." };
const user = (content: string): Entry => ({ type: "user", content });

describe("a summary", () => {
  it("is built from all kinds of entries, one line each", async () => {
    const history: Entry[] = [
      { type: "summary", text: "Before." },
      {
        type: "user",
        content: [
          { type: "text", text: "See:" },
          { type: "image", mediaType: "image/png" },
        ],
      },
      {
        type: "assistant",
        parts: [
          { type: "reasoning", text: "Hm." },
          { type: "text", text: "I look." },
          { type: "call", id: "1", name: "look", input: { at: "it" } },
        ],
      },
      { type: "result", callId: "1", name: "look", status: "error", content: 'Two\nlines and a "quote".' },
    ];
    const { lines } = await summarizeEntries(history, answer);
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      { from: "summary", text: "Before." },
      { from: "person", text: "See:\n[image image/png]" },
      { from: "assistant", text: "I look.", calls: ['look {"at":"it"}'] },
      { from: "tool", name: "look", status: "error", text: 'Two\nlines and a "quote".' },
    ]);
  });

  it("covers the first entries only", async () => {
    const { lines } = await summarizeEntries([user("1"), user("2"), user("3")], answer, { until: 2 });
    expect(lines).toHaveLength(2);
  });

  it("is truncated with a note when it is too long", async () => {
    const { facts } = await summarizeEntries(
      [user("1")],
      { text: "long ".repeat(1000) },
      { maxSummaryCharacters: 300 },
    );
    expect(facts[0]).toMatchObject({ type: "compacted", text: expect.stringContaining("left out") });
    expect(JSON.stringify(facts[0]).length).toBeLessThan(500);
  });

  it("ignores calls and keeps the text", async () => {
    const { facts } = await summarizeEntries([user("1")], { text: "Fine.", calls: [{ name: "send" }] });
    expect(facts).toMatchObject([{ type: "compacted", text: "Fine." }]);
  });

  it("keeps its input within the limit, with the first and the last lines", async () => {
    for (const limit of [600, 3000, 20_000]) {
      const history = Array.from({ length: 40 }, (_, n) => user(`${n} ${"x".repeat((n * 977) % 6000)}`));
      const { lines } = await summarizeEntries(history, answer, { maxInputCharacters: limit });
      expect(lines.join("").length).toBeLessThanOrEqual(limit + 200);
      expect(lines[0]).toContain('"0 ');
      expect(lines.at(-1)).toContain('"39 ');
    }
  });
});
