import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { mappings, protocolsPage } from "./protocols.ts";

it("docs/protocols.md matches the projections; `npm run protocols` updates it", () => {
  expect(readFileSync(join(import.meta.dirname, "../docs/protocols.md"), "utf8")).toBe(protocolsPage());
});

it.each(Object.entries(mappings))("%s maps only existing events", (_, mapping) => {
  const events = readFileSync(join(import.meta.dirname, "../packages/capstan/src/kernel/event.ts"), "utf8");
  const known = new Set([...events.matchAll(/type: "([a-z_]+)"/g)].map(([, type]) => type));
  const named = Object.keys(mapping).flatMap((key) => key.match(/\b[a-z]+_[a-z_]+\b/g) ?? []);
  expect(named.filter((type) => !known.has(type))).toEqual([]);
});
