// Vitest global setup: builds the packages once for the processes that tests start. Those that load the sources take two
// to four times the CPU time.
import { createHash } from "node:crypto";
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { join } from "node:path";
import { build } from "rolldown";
import { bundlePackage } from "./build.ts";

const root = join(import.meta.dirname, "..");
/** Not below `node_modules`, where Node strips no types. */
const cache = join(root, "dist/built");

/** Sets `CAPSTAN_BUILT` for the workers that start afterwards. */
export async function setup(): Promise<void> {
  process.env.CAPSTAN_BUILT = await buildWorkspace();
}

/** Returns a folder with the built packages in `packages`, and links to all installed packages in `node_modules`. */
async function buildWorkspace(): Promise<string> {
  const workspace = join(cache, hashSources());
  if (existsSync(workspace)) return workspace;
  mkdirSync(cache, { recursive: true });
  removeOldWorkspaces();
  const unfinished = mkdtempSync(join(cache, "unfinished-"));
  const names = listPublishedPackages();
  for (const name of names) await buildPackage(name, join(unfinished, "packages", name));
  await bundlePrograms(join(unfinished, "programs"));
  linkPackages(unfinished, names);
  for (const part of ["docs/examples", "docs/programs"])
    cpSync(join(root, part), join(unfinished, part), { recursive: true });
  try {
    renameSync(unfinished, workspace);
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true });
    if (!existsSync(workspace)) throw error; // else another run has built it
  }
  return workspace;
}

/** A day, as another test run may use one. */
const maxAgeMs = 86_400_000;

function removeOldWorkspaces(): void {
  const paths = readdirSync(cache).map((name) => join(cache, name));
  for (const path of paths)
    if (statSync(path).mtimeMs < Date.now() - maxAgeMs) rmSync(path, { recursive: true, force: true });
}

const sources = [
  "packages/*/{package.json,bin/**,src/**,templates/**}",
  "docs/{examples,programs}/**",
  ...["bench/durable-cell.ts", "packages/mcp/conformance/*.ts"],
  "scripts/{build,built-workspace}.ts",
];

function hashSources(): string {
  const hash = createHash("sha256");
  for (const path of globSync(sources, { cwd: root }).sort()) {
    const { mtimeMs, size } = statSync(join(root, path));
    hash.update(`${path} ${mtimeMs} ${size}\n`);
  }
  return hash.digest("hex").slice(0, 16);
}

function listPublishedPackages(): string[] {
  return readdirSync(join(root, "packages")).filter((name) => {
    const manifest = JSON.parse(readFileSync(join(root, "packages", name, "package.json"), "utf8"));
    return manifest.scripts?.build !== undefined;
  });
}

async function buildPackage(name: string, folder: string): Promise<void> {
  const source = join(root, "packages", name);
  await bundlePackage(source, join(folder, "dist"));
  for (const part of ["package.json", "bin", "templates"])
    if (existsSync(join(source, part))) cpSync(join(source, part), join(folder, part), { recursive: true });
  // For test processes, which load the sources.
  symlinkSync(join(source, "src"), join(folder, "src"));
}

/** Programs that many tests start: see `packages/verification/src/program-arguments.ts`. */
const programs = [
  "bench/durable-cell.ts",
  "packages/cli/src/testing/pty-chat.ts",
  "packages/dbos/src/testing/worker.ts",
  "packages/mcp/conformance/client-under-test.ts",
  "packages/mcp/src/server/testing/stdio-server.ts",
  "packages/server/src/testing/drain-worker.ts",
  "packages/server/src/testing/server-worker.ts",
  "packages/verification/src/durability/local-worker.ts",
  "packages/verification/src/limits/rate-limit-process.ts",
];

/** Includes all our sources: some of them are not in the built packages. */
async function bundlePrograms(folder: string): Promise<void> {
  await build({
    cwd: root,
    input: Object.fromEntries(programs.map((path) => [path.replace(/\.ts$/, ""), path])),
    platform: "node",
    resolve: { conditionNames: ["capstan-source", "node", "import", "default"] },
    external: /^(?!capstan(?:\/|$)|@capstan\/|packages\/)[@\w]/,
    output: { dir: folder, format: "esm", chunkFileNames: "shared/[name]-[hash].js" },
    logLevel: "warn",
  });
}

function linkPackages(workspace: string, names: readonly string[]): void {
  const installed = join(root, "node_modules");
  const modules = join(workspace, "node_modules");
  mkdirSync(join(modules, "@capstan"), { recursive: true });
  for (const entry of readdirSync(installed))
    if (!existsSync(join(modules, entry)) && entry !== "capstan" && entry !== ".cache")
      symlinkSync(join(installed, entry), join(modules, entry));
  for (const name of names)
    if (name === "capstan") symlinkSync("../packages/capstan", join(modules, name));
    else symlinkSync(`../../packages/${name}`, join(modules, "@capstan", name));
  // The pages of the studio are built elsewhere, when a test needs them.
  symlinkSync(join(root, "packages/studio/dist/app"), join(workspace, "packages/studio/dist/app"));
}
