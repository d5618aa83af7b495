// Vitest global setup: gives a test run a folder for its temporary files, and removes it afterwards. It is in TMPDIR, if
// that is set, and else in memory where possible, because a file there takes a tenth of the CPU time.
import { execFileSync } from "node:child_process";
import { chmodSync, globSync, mkdtempSync, rmSync, statfsSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A file system in memory, on Linux. Containers often have a small one. */
const memory = "/dev/shm";
const minFreeBytes = 4 * 2 ** 30;
/** Short: messages with paths are wrapped. */
const prefix = "cap-tests-";
/** A day, as another test run may use one. */
const maxAgeMs = 86_400_000;

/** Sets `TMPDIR` and `CAPSTAN_RUN_FOLDER` for the workers that start afterwards. Each project calls it. */
export function setup(): (() => void) | undefined {
  if (process.env.CAPSTAN_RUN_FOLDER) return undefined;
  const { TMPDIR: previous } = process.env;
  const isInMemory = previous === undefined && hasSpace(memory) && canExecute(memory);
  const parent = isInMemory ? memory : tmpdir();
  removeOldFolders(parent);
  const folder = mkdtempSync(join(parent, prefix));
  chmodSync(folder, 0o1777); // PostgreSQL runs as another user
  Object.assign(process.env, { TMPDIR: folder, CAPSTAN_RUN_FOLDER: folder });
  return () => {
    delete process.env.CAPSTAN_RUN_FOLDER;
    if (previous === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = previous;
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  };
}

function hasSpace(folder: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize >= minFreeBytes;
  } catch {
    return false; // there is no such folder
  }
}

/** Some systems execute no program there, which tests need. */
function canExecute(folder: string): boolean {
  const probe = mkdtempSync(join(folder, prefix));
  try {
    const program = join(probe, "program");
    writeFileSync(program, "#!/bin/sh\nexit 0\n", { mode: 0o700 });
    execFileSync(program);
    return true;
  } catch {
    return false;
  } finally {
    rmSync(probe, { recursive: true });
  }
}

/** Removes those of test runs that were killed. */
function removeOldFolders(parent: string): void {
  for (const folder of globSync(join(parent, `${prefix}*`)))
    if (statSync(folder).mtimeMs < Date.now() - maxAgeMs) rmSync(folder, { recursive: true, force: true });
}
