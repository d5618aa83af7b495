// What it costs to import a framework with one model client, cold: CPU time in a fresh process, from before the
// imports to after them.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { folderOf, type Peer } from "./peers.ts";

const execute = promisify(execFile);

/** Milliseconds of CPU, in one fresh process. */
export async function importCost({ name, imports }: Peer): Promise<number> {
  const program = `
const before = process.cpuUsage();
for (const name of ${JSON.stringify(imports)}) await import(name);
const { user, system } = process.cpuUsage(before);
console.log((user + system) / 1000);
process.exit();
`;
  const { stdout } = await execute(process.execPath, ["--input-type=module", "-e", program], {
    cwd: folderOf(name),
  });
  return Number(stdout);
}
