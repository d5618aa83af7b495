// Runs every example in docs/examples, each in its own process, and prints its output.
import { spawn } from "node:child_process";
import { globSync } from "node:fs";
import { basename, join } from "node:path";

const root = join(import.meta.dirname, "..");
const folder = join(root, "docs/examples");

/** Lists the examples by name, quick-start first. */
export function listExamples(): string[] {
  const names = globSync("*.ts", { cwd: folder }).map((file) => basename(file, ".ts"));
  const first = "quick-start";
  return [first, ...names.filter((name) => name !== first).sort()];
}

export type ExampleRun = { readonly exitCode: number | null; readonly output: string };

/** `output` combines stdout and stderr in the order written. `workspace` is a folder with built packages. */
export function runExample(name: string, workspace?: string): Promise<ExampleRun> {
  const flags = workspace === undefined ? ["--conditions=capstan-source"] : [];
  const file = join(workspace ?? root, "docs/examples", `${name}.ts`);
  const child = spawn(process.execPath, [...flags, file]);
  let output = "";
  for (const pipe of [child.stdout, child.stderr]) {
    pipe.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  }
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (exitCode) => resolve({ exitCode, output }));
  });
}

async function main(): Promise<void> {
  for (const name of listExamples()) {
    const { exitCode, output } = await runExample(name);
    console.log(`── docs/examples/${name}.ts\n\n${output}`);
    if (exitCode === 0) continue;
    console.error(`docs/examples/${name}.ts exited with code ${exitCode}.`);
    process.exitCode = 1;
  }
}

if (process.argv[1] === import.meta.filename) await main();
