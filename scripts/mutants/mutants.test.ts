import { readFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { describe, expect, it } from "vitest";
import { computeCoverage, readTests } from "../coverage.ts";
import { applyMutant, readMutants } from "./mutant.ts";

const mutants = readMutants();
const { rows } = computeCoverage(JSON.parse(readFileSync("docs/requirements.json", "utf8")), readTests());
const tests = new Map(rows.map((row) => [row.id, row.tests]));

describe("the mutants", () => {
  it("are at least 100, of which no two are the same", () => {
    expect(mutants.length).toBeGreaterThanOrEqual(100);
    expect(new Set(mutants.map((mutant) => JSON.stringify(mutant))).size).toBe(mutants.length);
  });

  it.each(mutants)("$row in $file still applies, parses, and its row has a test", (mutant) => {
    const source = readFileSync(mutant.file, "utf8");
    const mutated = applyMutant(source, mutant);
    expect(mutated).not.toBe(source);
    if (mutant.file.endsWith(".ts")) expect(() => stripTypeScriptTypes(mutated)).not.toThrow();
    expect(tests.get(mutant.row)).not.toEqual([]);
  });
});
