import type { FoundSession } from "capstan/client";
import { expect, it } from "vitest";
import { matchesWords, mergeByTitle } from "./match-words.ts";

it.each([
  ["Weather in Paris", "weath"],
  ["Weather in Paris", "PARIS"],
  ["Weather in Paris", "par wea"],
  ["Weather in Paris", "  paris  "],
  ["Ein Café in Köln", "cafe koln"],
  ["Ein Cafe\u0301 in Koln", "CAFÉ KÖLN"],
  ["Go to MCP servers", "go mcp"],
  ["Where is gate B22?", "b22?"],
  ["Translate 東京駅", "京駅"],
  ["Everything", ""],
])("%j is found with %j", (text, query) => {
  expect(matchesWords(text, query)).toBe(true);
});

it.each([
  ["Weather in Paris", "rome"],
  ["Weather in Paris", "weather rome"],
  ["Weather in Paris", "parish"],
  ["Weather in Paris", "?!"],
])("%j is not found with %j", (text, query) => {
  expect(matchesWords(text, query)).toBe(false);
});

it("lists a session once: those with a matching title first, with their matching messages", () => {
  const session = (id: string, title: string): FoundSession => ({ id, title, places: [] });
  const places = [{ seq: 1, excerpt: "the harbour" }];
  const sessions = [session("a", "Harbour"), session("b", "Harbour tour"), session("c", "Weather")];
  const found = [
    { ...session("c", "Weather"), places },
    { ...session("b", "Harbour tour"), places },
  ];
  const merged = mergeByTitle(sessions, found, "harb");
  expect(merged.map(({ id, places: at }) => [id, at.length])).toEqual([
    ["a", 0],
    ["b", 1],
    ["c", 1],
  ]);
});
