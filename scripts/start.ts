// Opens the studio with the five apps: builds the studio if its sources have changed, and runs `capstan dev`.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { withBuiltStudio } from "../packages/studio/src/testing/build-studio.ts";

const root = join(import.meta.dirname, "..");

console.error("Building the studio, if it has changed …");
await withBuiltStudio(() => undefined);
const cli = join(root, "packages/cli/bin/capstan.js");
const apps = join(root, "apps/capstan.config.ts");
const cliArguments = [cli, "dev", "--config", apps, ...process.argv.slice(2)];
const child = spawn(process.execPath, ["--conditions=capstan-source", ...cliArguments], {
  stdio: "inherit",
  cwd: root,
});
// Forward signals and wait for the child to shut down cleanly.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => child.kill(signal));
child.on("exit", (code, signal) => process.exit(code ?? (signal ? 1 : 0)));
