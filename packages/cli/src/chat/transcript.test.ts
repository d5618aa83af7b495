import type { Event } from "capstan";
import { describe, expect, it } from "vitest";
import { createStyle } from "../terminal/style.ts";
import { createTranscript } from "./transcript.ts";
import type { View } from "./view.ts";

const origin = { runId: "r", sessionId: "s", agent: "a", turn: 1 };
const fact = (body: object) => ({ ...origin, seq: 1, at: 0, id: "f", ...body }) as Event;
const delta = (body: object) => ({ ...origin, ...body }) as Event;

/** Shows events in a transcript and returns the printed lines. */
function printEvents(events: readonly Event[]): string {
  const lines: string[] = [];
  const append = (added: readonly string[]) => void lines.push(...added);
  const view: View = {
    ...{ style: createStyle(process.stdout, { NO_COLOR: "1" }), getColumns: () => 80 },
    ...{ append, print: (added) => append(["", ...added]) },
    ...{ pushMode: () => () => undefined, showAbove: () => undefined, redraw: () => undefined },
    ...{ animate: () => undefined, suspend: () => undefined, close: () => undefined },
  };
  const transcript = createTranscript(view, () => 0);
  for (const event of events) transcript.handleEvent(event);
  return lines.join("\n").trim();
}

const entry = { type: "assistant", parts: [{ type: "text", text: "It rains." }] };

describe("text of an answer that is discarded", () => {
  const error = { code: "model_overloaded", message: "one is overloaded.", retryable: true };
  it.each([
    ["a retry", [delta({ type: "message_restart", reason: "stream_truncated" })]],
    ["a fallback", [fact({ type: "model_failed", model: "one", error }), fact({ type: "turn_start" })]],
    ["a crash", [fact({ type: "recovered", owner: "x" }), fact({ type: "turn_start" })]],
  ])("is marked once after %s, and the new answer is complete", (_, between) => {
    const printed = printEvents([
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
