import { execFile } from "node:child_process";
import { cpSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

const execute = promisify(execFile);
const root = join(import.meta.dirname, "..");
const project = join(import.meta.dirname, "next");
export const nextProgram: string = join(import.meta.dirname, "node_modules/next/dist/bin/next");

/**
 * Installs the built packages as npm would, because Next bundles packages that are only linked, and builds the project in
 * `next`. Returns its folder.
 */
export async function buildNextProject(): Promise<string> {
  for (const name of ["agent.ts", "server.ts"]) cpSync(join(import.meta.dirname, name), join(project, name));
  rmSync(join(project, "node_modules"), { recursive: true, force: true });
  for (const folder of ["capstan", "mcp", "tools", "server"].map((name) => join(root, "packages", name))) {
    const { name } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as { name: string };
    for (const part of ["package.json", "dist"])
      cpSync(join(folder, part), join(project, "node_modules", name, part), { recursive: true });
  }
  const env = { ...process.env, NEXT_TELEMETRY_DISABLED: "1", NODE_ENV: "production" };
  await execute(process.execPath, [nextProgram, "build"], { cwd: project, env });
  return project;
}
