import { agentTool, defineAgent, defineTool, type Event, run } from "capstan";
import { scriptedModel } from "capstan/testing";
import { afterEach, describe, expect, it, vi } from "vitest";
import { createStyle } from "../terminal/style.ts";
import { createTranscript } from "./transcript.ts";
import type { View } from "./view.ts";

const origin = { runId: "r", sessionId: "s", agent: "a", turn: 1 };
const fact = (body: object) => ({ ...origin, seq: 1, at: 0, id: "f", ...body }) as Event;
const delta = (body: object) => ({ ...origin, ...body }) as Event;

/** Shows events in a transcript, and returns the printed lines and the activity, ten seconds later. */
function showEvents(events: readonly Event[]): { readonly printed: string; readonly activity: string } {
  const lines: string[] = [];
  const append = (added: readonly string[]) => void lines.push(...added);
  const view: View = {
    ...{ style: createStyle(process.stdout, { NO_COLOR: "1" }), getColumns: () => 80 },
    ...{ append, print: (added) => append(["", ...added]) },
    ...{ pushMode: () => () => undefined, showAbove: () => undefined, redraw: () => undefined },
    ...{ animate: () => undefined, suspend: () => undefined, close: () => undefined },
  };
  let time = 0;
  const transcript = createTranscript(view, () => time);
  for (const event of events) transcript.handleEvent(event);
  time = 10_000;
  return { printed: lines.join("\n").trim(), activity: transcript.activity };
}

const entry = { type: "assistant", parts: [{ type: "text", text: "It rains." }] };

describe("text of an answer that is discarded", () => {
  const error = { code: "model_overloaded", message: "one is overloaded.", retryable: true };
  it.each([
    ["a retry", [delta({ type: "message_restart", reason: "stream_truncated" })]],
    ["a fallback", [fact({ type: "model_failed", model: "one", error }), fact({ type: "turn_start" })]],
    ["a crash", [fact({ type: "recovered", owner: "x" }), fact({ type: "turn_start" })]],
  ])("is marked once after %s, and the new answer is complete", (_, between) => {
    const { printed } = showEvents([
      fact({ type: "turn_start" }),
      delta({ type: "content_delta", delta: "Snow falls.\n\nAnd" }),
      ...between,
      delta({ type: "content_delta", delta: "It " }),
      fact({ type: "message", entry, ms: 1, usage: {} }),
    ]);
    expect(printed).toMatch(
      /^Snow falls\.\n\n· Discarded the incomplete answer above\.\n[\s\S]*\nIt rains\.$/,
    );
    expect(printed.match(/Discarded/g)).toHaveLength(1);
  });
});

it("a long message of the user is shortened on the screen", () => {
  const content = Array.from({ length: 240 }, (_, line) => `line ${line}`).join("\n");
  const { printed } = showEvents([fact({ type: "steered", entry: { type: "user", content } })]);
  expect(printed).toMatch(/^› line 0\n {2}line 1\n[\s\S]* {2}line 7\n {2}… 232 more lines$/);
});

describe("generated media", () => {
  const media = { type: "media", mediaType: "image/png", handle: "blob_1", size: 512_000 };
  const showMessage = (parts: readonly object[], text: string) =>
    showEvents([
      fact({ type: "turn_start" }),
      fact({ type: "message", entry: { type: "assistant", parts }, ms: 1, usage: {} }),
      fact({ type: "done", status: "done", text }),
    ]).printed;

  it("are one line each, with the handle", () => {
    expect(showMessage([...entry.parts, media], "It rains.")).toBe(
      "It rains.\n\n[image image/png, 512 kB → blob_1]",
    );
  });

  it("that are the whole answer are not described twice", () => {
    expect(showMessage([media], "[image image/png]")).toBe("[image image/png, 512 kB → blob_1]");
  });
});

describe("an outage of the model provider", () => {
  const error = { code: "model_overloaded", message: "503: busy.", retryable: true };
  const failure = fact({ type: "model_failed", model: "one", error, isParked: true });
  const wait = (until: number) => fact({ type: "waiting", callIds: [], until });

  afterEach(() => {
    vi.useRealTimers();
  });

  it("is reported once, and the time to the next attempt counts down", () => {
    vi.useFakeTimers({ toFake: ["Date"], now: 0 });
    const turn = fact({ type: "turn_start" });
    const { printed, activity } = showEvents([turn, failure, wait(5000), turn, failure, wait(45_000)]);
    expect(printed).toBe("! one failed: 503: busy.");
    expect(activity).toMatch(/^waiting for the model provider until \d\d:\d\d:45, next in 35 s,$/);
  });

  it("shows each short retry, and nothing more once the model answers", () => {
    const reason = { code: "model_overloaded", message: "503: busy." };
    const retry = delta({ type: "retry", attempt: 2, ...reason, waitMs: 30_000, at: 30_000 });
    expect(showEvents([fact({ type: "turn_start" }), retry]).activity).toBe(
      "attempt 2 failed (503: busy.), next in 20 s,",
    );
    const answer = delta({ type: "content_delta", delta: "It" });
    expect(showEvents([fact({ type: "turn_start" }), retry, answer]).activity).toBe("writing");
  });

  it("that lasted too long ends with how to try again", () => {
    const end = fact({ type: "done", status: "failed", text: "503: busy.", error, canRetry: true });
    expect(showEvents([failure, end]).printed).toBe(
      "! one failed: 503: busy.\n\n· /retry tries again from where the run failed.",
    );
  });
});

it("shows the start, the progress and the end of background work", async () => {
  const look = defineTool({
    name: "look",
    description: "Looks.",
    input: { type: "object", properties: {} },
    effects: "none",
    execute: () => "Rock.",
  });
  const research = defineAgent({
    name: "research",
    model: scriptedModel([{ text: "I\nlook.", calls: [{ name: "look", input: {} }] }, { text: "Rock." }]),
    tools: [look],
  });
  const model = scriptedModel(({ history }) => {
    if (history.length === 1) return { calls: [{ name: "research", input: { prompt: "Look." } }] };
    const isKnown = history.some(
      (entry) => entry.type === "user" && String(entry.content).includes("is done"),
    );
    return { text: isKnown ? "It is rock." : "I am having it looked up." };
  });
  const agent = defineAgent({ name: "a", model, tools: [agentTool(research, { background: true })] });
  const events: Event[] = [];
  for await (const event of run(agent, "Go.")) events.push(event);
  const { printed } = showEvents(events);
  const lines = printed.split("\n").filter((line) => line.includes("background"));
  expect(lines.filter((line) => line.startsWith("· "))).toEqual([
    "· research works in the background.",
    "· research in the background: I look.",
    "· research in the background is done.",
  ]);
  expect(printed).toContain("It is rock.");
});
