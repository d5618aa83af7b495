// Measures the cold import of a framework with one model client: CPU time of the imports in a fresh process.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { getPeerFolder, type Peer } from "./peers.ts";

const execute = promisify(execFile);

/** Returns milliseconds of CPU time. */
export async function measureImport({ name, imports }: Peer): Promise<number> {
  const program = `
const before = process.cpuUsage();
for (const name of ${JSON.stringify(imports)}) await import(name);
const { user, system } = process.cpuUsage(before);
console.log((user + system) / 1000);
process.exit();
`;
  const { stdout } = await execute(process.execPath, ["--input-type=module", "-e", program], {
    cwd: getPeerFolder(name),
  });
  return Number(stdout);
}
