import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { findPostgresFolder, startPostgres } from "../postgres/start-postgres.ts";
import { runKillTrial, type TrialReport } from "./kill-trial.ts";

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true });
});

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "capstan-kill-"));
  folders.push(folder);
  return folder;
}

function expectWhole(report: TrialReport, kills: number): void {
  expect(report.problems).toEqual([]);
  expect(Object.values(report.kills).reduce((sum, count) => sum + count, 0)).toBe(kills);
  expect(report.acknowledged).toBeGreaterThan(0);
  expect(report.runs).toBeGreaterThanOrEqual(report.acknowledged);
  // The kills must have hit something.
  expect(report.recoveries).toBeGreaterThan(0);
}

it("30 kills at random instants and at breakpoints, two workers on SQLite: no run is lost, no effect is duplicated (F73, F74)", async () => {
  const folder = newFolder();
  const store = { type: "sqlite", file: join(folder, "store.db") } as const;
  expectWhole(await runKillTrial({ store, folder, kills: 30 }), 30);
});

it.skipIf(!findPostgresFolder())(
  "10 kills, two workers on Postgres: no run is lost, no effect is duplicated (F73, F74)",
  async () => {
    const server = await startPostgres();
    try {
      const store = { type: "postgres", url: server.url, schema: "capstan" } as const;
      expectWhole(await runKillTrial({ store, folder: newFolder(), kills: 10 }), 10);
    } finally {
      await server.stop();
    }
  },
  120_000,
);
