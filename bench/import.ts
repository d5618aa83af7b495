// What it costs to import the built package, cold: CPU time in a fresh process, from before the import to after it.
import { execFile, execFileSync } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";

const execute = promisify(execFile);
const root = join(import.meta.dirname, "..");
const entry = join(root, "packages/capstan/dist/index.js");

const program = `
const before = process.cpuUsage();
await import(${JSON.stringify(entry)});
const { user, system } = process.cpuUsage(before);
console.log((user + system) / 1000);
`;

/** Milliseconds of CPU, one per fresh process. */
export async function importCosts(samples: number): Promise<number[]> {
  execFileSync(process.execPath, [join(root, "scripts/build.ts"), join(root, "packages/capstan")]);
  const costs: number[] = [];
  for (let sample = 0; sample < samples; sample++) {
    const { stdout } = await execute(process.execPath, ["--input-type=module", "-e", program]);
    costs.push(Number(stdout));
  }
  return costs;
}
