import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { openConnection } from "./connection.ts";
import { buildScopeCondition } from "./scope.ts";

it("the sessions of one scope are found by an index range of their ids (A95)", () => {
  const folder = mkdtempSync(join(tmpdir(), "capstan-sqlite-"));
  const connection = openConnection(join(folder, "store.db"), 100);
  const planOf = (scope: string | undefined) => {
    const { sql, values } = buildScopeCondition(scope);
    const plan = `EXPLAIN QUERY PLAN SELECT id FROM sessions WHERE ${sql} AND (facts > 0 OR created_at > 0)
      ORDER BY updated_at DESC, number LIMIT ?`;
    return connection.all<{ detail: string }>(plan, ...values, 10).map(({ detail }) => detail);
  };
  for (const scope of ["ann", '"', "\ud800"]) {
    const plan = planOf(scope);
    expect(plan.filter((step) => /SEARCH sessions USING .*\(id>\? AND id<\?\)/.test(step))).toHaveLength(2);
    expect(plan.join()).not.toContain("SCAN");
  }
  expect(planOf(undefined)).toContain("SCAN sessions");
  connection.close();
  rmSync(folder, { recursive: true });
});

it("a scope is a parameter: one statement serves all scopes (A95)", () => {
  const statements = ["ann", "'; --", '"', "%", "\u0000"].map((scope) => buildScopeCondition(scope).sql);
  expect(new Set(statements).size).toBe(1);
});
