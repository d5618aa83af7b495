import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { ListOptions } from "../../runtime/store.ts";
import { buildListQuery } from "./catalog.ts";
import { openConnection } from "./connection.ts";

it("a page of a list is read from an index in order, without a scan or a sort (A95)", () => {
  const folder = mkdtempSync(join(tmpdir(), "capstan-sqlite-"));
  const connection = openConnection(join(folder, "store.db"), 100);
  const explain = (options: ListOptions) => {
    const { sql, values } = buildListQuery(options);
    return connection
      .all<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`, ...values)
      .map(({ detail }) => detail)
      .join("\n");
  };
  const after = { id: "x", updatedAt: 7 };
  expect(explain({ limit: 10 })).toBe("SCAN sessions USING INDEX sessions_by_time");
  expect(explain({ limit: 10, after })).toBe("SEARCH sessions USING INDEX sessions_by_time (updated_at<?)");
  for (const scope of ["ann", "", '"', "\ud800"])
    for (const page of [{ scope }, { scope, limit: 10 }, { scope, after }]) {
      const plan = explain(page);
      expect(plan.match(/SEARCH sessions USING INDEX sessions_of_scope/g)).toHaveLength(2);
      expect(plan).not.toMatch(/SCAN|TEMP B-TREE/);
    }
  connection.close();
  rmSync(folder, { recursive: true });
});

it("a scope is a parameter: one statement serves all scopes (A95)", () => {
  const statements = ["ann", "'; --", '"', "%", "\u0000"].map((scope) => buildListQuery({ scope }).sql);
  expect(new Set(statements).size).toBe(1);
});
