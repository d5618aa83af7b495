import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { findPostgresFolder } from "../postgres/start-postgres.ts";
import { runKillTrials } from "./kill-trials.ts";

let folder = "";
afterEach(() => rmSync(folder, { recursive: true, force: true }));

for (const store of ["sqlite", "postgres"] as const)
  it.skipIf(store === "postgres" && !findPostgresFolder())(
    `500 kills, two workers on ${store}: no run is lost, no effect is duplicated (F73, F74)`,
    async () => {
      folder = mkdtempSync(join(tmpdir(), "capstan-kill-"));
      const report = await runKillTrials({ kills: 500, store, folder });
      expect(report.problems).toEqual([]);
      expect(report.recoveries).toBeGreaterThan(100);
      expect(report.quarantined).toBeLessThan(report.runs / 20);
    },
    1_800_000,
  );
