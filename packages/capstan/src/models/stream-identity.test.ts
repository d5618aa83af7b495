import { describe, expect, it } from "vitest";
import type { AgentError } from "../base/errors.ts";
import { createStreamIdentity } from "./stream-identity.ts";

/** Events as `id` or `id!`, where the mark stands for output. Returns the index of the event that was refused. */
function findRestart(isStrict: boolean, ...events: readonly string[]): number | undefined {
  const identity = createStreamIdentity({ isStrict });
  for (const [index, event] of events.entries()) {
    try {
      identity.check(event.replace("!", ""), event.endsWith("!"));
    } catch (error) {
      expect((error as AgentError).code).toBe("stream_inconsistent");
      return index;
    }
  }
  return undefined;
}

describe("a second response in a stream", () => {
  it.each([
    ["a new id after one that was repeated", ["a", "a!", "a!", "b", "b!"], 4],
    ["a new id that is repeated after the first event with output", ["a!", "b!", "b!"], 2],
    ["a new id after the answer had ended", ["a!", "a!", "a", "b!"], 3],
  ])("is found by %s", (_what, events, at) => {
    expect(findRestart(false, ...events)).toBe(at);
  });

  it.each([
    ["one id", ["a", "a!", "a!", "a"]],
    ["no id", ["", "!", "!", ""]],
    ["an empty id in the first event (Azure)", ["", "a", "a!", "a!"]],
    ["no id in the first event, which has output", ["!", "a!", "a!", "a"]],
    ["another id in every event (Groq, LiteLLM)", ["a", "b!", "c!", "d!", "e!", "f"]],
    ["another id in every event, with output from the first one", ["a!", "b!", "c!", "d!"]],
    ["two events with one id among them", ["a!", "b!", "c!", "c!", "d!"]],
    ["another id in the event with the usage", ["a", "a!", "a!", "b"]],
    ["another id before any output", ["a", "a", "b", "b!", "b!"]],
  ])("is not seen in a stream with %s", (_what, events) => {
    expect(findRestart(false, ...events)).toBeUndefined();
  });

  it("is any new id after output, if the provider keeps its ids", () => {
    expect(findRestart(true, "a!", "b")).toBe(1);
    expect(findRestart(true, "a", "b!", "b!", "")).toBeUndefined();
    expect(findRestart(true, "!", "a!", "a!")).toBeUndefined();
  });
});
