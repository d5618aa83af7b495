import { execFile } from "node:child_process";
import { mkdirSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { studioFolder } from "../index.ts";

const root = join(import.meta.dirname, "../..");
const lock = join(root, "dist/.building");
const vite = join(dirname(createRequire(import.meta.url).resolve("vite/package.json")), "bin/vite.js");
/** Whoever holds the lock for longer is gone. */
const staleMs = 90_000;

/** Sources that change while a test file runs do not matter to it. */
let isChecked = false;

/** Does something while the studio is built and nobody else builds it: test files run at the same time. */
export async function withBuiltStudio<Value>(use: () => Value | Promise<Value>): Promise<Value> {
  mkdirSync(join(root, "dist"), { recursive: true });
  while (!isLocked()) await new Promise((resolve) => setTimeout(resolve, 100));
  try {
    if (!isChecked && newest(builtFrom) > timeOf(join(studioFolder, "index.html"))) await build();
    isChecked = true;
    return await use();
  } finally {
    rmSync(lock, { recursive: true, force: true });
  }
}

function isLocked(): boolean {
  try {
    mkdirSync(lock);
    return true;
  } catch {
    const age = Date.now() - timeOf(lock);
    if (age > staleMs && age < Date.now()) rmSync(lock, { recursive: true, force: true });
    return false;
  }
}

const builtFrom = ["src", "index.html", "public", "vite.config.ts", "../capstan/src/client"].map((path) =>
  join(root, path),
);

/** In a process of its own: in one that runs tests, React would be built for development. */
async function build(): Promise<void> {
  const fresh = join(root, "dist/app-next");
  const env = { ...process.env, NODE_ENV: "production" };
  await promisify(execFile)(process.execPath, [vite, "build", "--outDir", fresh, "--logLevel", "error"], {
    cwd: root,
    env,
  });
  rmSync(studioFolder, { recursive: true, force: true });
  renameSync(fresh, studioFolder);
}

function newest(paths: readonly string[]): number {
  return Math.max(
    ...paths.map((path) => {
      if (!statSync(path).isDirectory()) return timeOf(path);
      const files = readdirSync(path, { recursive: true, withFileTypes: true });
      const sources = files.filter((file) => file.isFile() && !isOfTests(join(file.parentPath, file.name)));
      return Math.max(0, ...sources.map((file) => timeOf(join(file.parentPath, file.name))));
    }),
  );
}

const isOfTests = (path: string) => path.includes("/testing/") || /\.test\.tsx?$/.test(path);

/** 0 when there is no such file. */
function timeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
