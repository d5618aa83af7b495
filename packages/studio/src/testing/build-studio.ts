import { execFile } from "node:child_process";
import { mkdirSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { studioFolder } from "../index.ts";

const root = join(import.meta.dirname, "../..");
const lock = join(root, "dist/.building");
const vite = join(dirname(createRequire(import.meta.url).resolve("vite/package.json")), "bin/vite.js");
/** Older locks are stale. */
const staleMs = 90_000;

/** Checked once per test file. */
let isChecked = false;

/** Runs an action with an up-to-date build, while holding a lock against parallel test files. */
export async function withBuiltStudio<Value>(action: () => Value | Promise<Value>): Promise<Value> {
  mkdirSync(join(root, "dist"), { recursive: true });
  while (!tryLock()) await new Promise((resolve) => setTimeout(resolve, 100));
  try {
    if (!isChecked && getNewestTime(sourcePaths) > getModifiedTime(join(studioFolder, "index.html")))
      await build();
    isChecked = true;
    return await action();
  } finally {
    rmSync(lock, { recursive: true, force: true });
  }
}

function tryLock(): boolean {
  try {
    mkdirSync(lock);
    return true;
  } catch {
    const age = Date.now() - getModifiedTime(lock);
    if (age > staleMs && age < Date.now()) rmSync(lock, { recursive: true, force: true });
    return false;
  }
}

const sourcePaths = [
  ...["src", "index.html", "public", "vite.config.ts", "compress-assets.ts"],
  "../capstan/src/client",
].map((path) => join(root, path));

/** Uses a child process, because React would be built for development in a test process. */
async function build(): Promise<void> {
  const nextFolder = join(root, "dist/app-next");
  const env = { ...process.env, NODE_ENV: "production" };
  await promisify(execFile)(
    process.execPath,
    [vite, "build", "--outDir", nextFolder, "--logLevel", "error"],
    {
      cwd: root,
      env,
    },
  );
  rmSync(studioFolder, { recursive: true, force: true });
  renameSync(nextFolder, studioFolder);
}

function getNewestTime(paths: readonly string[]): number {
  return Math.max(
    ...paths.map((path) => {
      if (!statSync(path).isDirectory()) return getModifiedTime(path);
      const files = readdirSync(path, { recursive: true, withFileTypes: true });
      const sources = files.filter((file) => file.isFile() && !isTestFile(join(file.parentPath, file.name)));
      return Math.max(0, ...sources.map((file) => getModifiedTime(join(file.parentPath, file.name))));
    }),
  );
}

const isTestFile = (path: string) => path.includes("/testing/") || /\.test\.tsx?$/.test(path);

/** Returns 0 if the file does not exist. */
function getModifiedTime(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
