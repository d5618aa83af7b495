import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

const folder = import.meta.dirname;
const sources = readdirSync(folder, { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts"))
  .map((name) => [name, readFileSync(join(folder, name), "utf8")] as const);

/** Words of the apps in this repository: of their tools, their arguments and their data. */
const ofApps: readonly RegExp[] = [
  /\bpoi(?:Id)?s?\b|\bgates?\b|terminal|airport|restroom|toilet|lounge|stairs|showDirections|searchNearby|bookmark/iu,
  /read_file|write_file|edit_file|list_files|search_files|docstring|\bgreet\b|sample\.txt|def \w+\(/iu,
  /findNodes|styleNodes|styleEdges|queryGraph|sampleData|\bnodes?\b|\bedges?\b|whiskers|mittens|\bpets?\b|pagerank/iu,
  /knowledge_base|search_email|search_people|get_document|ask_agent|\bzod\b|valibot|\bhono\b|budget/iu,
  /\bmcp|web_fetch|list_units|time_in|add_note|fahrenheit|\bmiles\b/iu,
];

it("the offline model contains no words of the apps: it works from the tools alone", () => {
  const found = sources.flatMap(([name, text]) =>
    ofApps.flatMap((words) => (words.exec(text) ?? []).map((word) => `${name}: ${word}`)),
  );
  expect(found).toEqual([]);
  expect(sources.length).toBeGreaterThan(20);
});

it("every file has at most 200 lines", () => {
  const long = sources.filter(([, text]) => text.split("\n").length > 200).map(([name]) => name);
  expect(long).toEqual([]);
});
