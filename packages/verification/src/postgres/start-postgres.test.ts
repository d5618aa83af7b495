import { chmodSync, cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { findPostgresFolder, startPostgres } from "./start-postgres.ts";

const native = findPostgresFolder();

it.runIf(native && process.getuid?.() === 0)(
  "starts for root in a folder that no other user may enter",
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "private-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    chmodSync(folder, 0o700);
    const copy = join(folder, "native");
    cpSync(native ?? "", copy, { recursive: true, verbatimSymlinks: true });
    const { TMPDIR: previous } = process.env;
    onTestFinished(() => void Object.assign(process.env, { TMPDIR: previous }));
    process.env.TMPDIR = folder;

    const server = await startPostgres({ native: copy });
    onTestFinished(() => server.stop());

    const { rows } = await server.pool().query("SELECT 1 AS one");
    expect(rows).toEqual([{ one: 1 }]);
  },
);
