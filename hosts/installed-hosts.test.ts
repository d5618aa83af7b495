import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe } from "vitest";
import { bundleWorker } from "./bundle-worker.ts";
import { hostSuite } from "./host-suite.ts";
import { buildNextProject, nextProgram } from "./prepare-next.ts";

const packages = join(import.meta.dirname, "node_modules");
const bun = join(packages, "@oven/bun-linux-x64/bin/bun");
const deno = join(packages, "@deno/linux-x64-glibc/deno");
const workerd = join(packages, "@cloudflare/workerd-linux-64/bin/workerd");

// `npm run hosts` installs these hosts and builds the packages; the other tests do without them.
describe.skipIf(process.env.CAPSTAN_HOSTS !== "1")("with `npm run hosts`", () => {
  hostSuite("Bun", () => ({ program: bun, args: ["--conditions=capstan-source", "fetch.ts"] }));

  hostSuite("Deno", (port) => ({
    program: deno,
    args: [
      ...[
        "serve",
        "--allow-all",
        "--no-check",
        "--node-modules-dir=manual",
        "--conditions",
        "capstan-source",
      ],
      ...["--unstable-no-legacy-abort", "--host", "127.0.0.1", "--port", `${port}`, "fetch.ts"],
    ],
  }));

  let folder = "";
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  async function buildWorkerd(port: number) {
    folder = mkdtempSync(join(tmpdir(), "capstan-hosts-"));
    return { program: workerd, args: ["serve", await bundleWorker(folder, port)] };
  }
  hostSuite("Cloudflare Workers", buildWorkerd, { keepsRunning: false, reportsDisconnects: false });

  const buildNext = async (port: number) => ({
    program: process.execPath,
    args: [nextProgram, "start", "--hostname", "127.0.0.1", "--port", `${port}`],
    cwd: await buildNextProject(),
    env: { NODE_ENV: "production", NEXT_TELEMETRY_DISABLED: "1" },
  });
  hostSuite("Next", buildNext);
});
