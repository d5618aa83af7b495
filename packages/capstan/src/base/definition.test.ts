import { describe, expect, it } from "vitest";
import { readCpuMs } from "../testing/cpu-time.ts";
import { suggestName } from "./definition.ts";

describe("suggestName", () => {
  it.each<[string, readonly string[], string]>([
    ["serch", ["search", "weather"], ' Did you mean "search"?'],
    ["SEARCH", ["search"], ' Did you mean "search"?'],
    ["searhc", ["search"], ' Did you mean "search"?'],
    ["search_knowledge", ["search_knowledge_base", "search_email"], ' Did you mean "search_knowledge_base"?'],
    ["maxTurn", ["maxTurns", "memory"], ' Did you mean "maxTurns"?'],
    ["", ["search"], ""],
    ["search", [], ""],
    ["zzzzzz", ["search", "weather"], ""],
  ])("for %j among %j returns %j", (name, known, hint) => {
    expect(suggestName(name, known)).toBe(hint);
  });

  it("puts the closest first, and names at most three", () => {
    expect(suggestName("read_file", ["read_fils", "read_file1", "read_flies", "read_fi", "read_file"])).toBe(
      ' Did you mean "read_file" or "read_fils" or "read_file1"?',
    );
  });

  it("preserves the case of the known name", () => {
    expect(suggestName("getpoi", ["getPOI"])).toBe(' Did you mean "getPOI"?');
  });

  it("does not suggest a short name without a common letter", () => {
    expect(suggestName("up", ["go"])).toBe("");
  });

  it("does not suggest a long name only because it is long", () => {
    expect(suggestName("x".repeat(128), ["y".repeat(128)])).toBe("");
  });

  it("is fast for a name of a megabyte (F30)", () => {
    const started = readCpuMs();
    expect(
      suggestName(
        "x".repeat(1_000_000),
        Array.from({ length: 100 }, (_, n) => `tool_${n}`),
      ),
    ).toBe("");
    expect(readCpuMs() - started).toBeLessThan(1000);
  });
});
