import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { basename, dirname, join, relative, resolve } from "node:path";
import { AgentError } from "capstan";
import type { Io } from "../io.ts";
import { trustFolder } from "../trust/trust.ts";
import { version } from "../version.ts";
import { buildProjectFiles } from "./project-files.ts";

/** What `init` is told. */
export type InitFlags = { readonly yes?: boolean };

/** `capstan init`: never writes over a file. */
export async function createProject(
  given: string | undefined,
  { yes = false }: InitFlags,
  io: Io,
): Promise<void> {
  const wanted = given ?? (yes || io.stdin.isTTY !== true ? "." : await askForFolder());
  if (wanted === undefined) throw new AgentError("aborted", "Nothing was made.");
  const folder = resolve(io.cwd, wanted);
  const files = buildProjectFiles({ name: toPackageName(folder), version });
  await assertNoConflicts(folder, files);
  for (const [path, text] of files) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    // Fails for a file that came in between.
    await writeFile(join(folder, path), text, { flag: "wx" });
  }
  // Its configuration is ours, and whoever asked for it means to run it.
  await trustFolder(folder, io.env);
  io.stdout.write(formatNextSteps(folder, files, io));
}

async function askForFolder(): Promise<string | undefined> {
  const { isCancel, text } = await import("@clack/prompts");
  const answer = await text({ message: "Where?", initialValue: "./my-agent" });
  return isCancel(answer) ? undefined : answer;
}

type Files = ReturnType<typeof buildProjectFiles>;

async function assertNoConflicts(folder: string, files: Files): Promise<void> {
  const taken = files.map(([path]) => path).filter((path) => existsSync(join(folder, path)));
  if (taken.length === 0) return;
  const message = `${folder} has ${taken.join(", ")} already, and nothing is written over: choose another folder, \`capstan init my-agent\`, or move them away.`;
  throw new AgentError("invalid_input", message);
}

/** The folder's name, as npm allows it. */
function toPackageName(folder: string): string {
  const name = basename(folder)
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, "-")
    .replace(/^[._-]+/, "")
    .slice(0, 100);
  return name === "" || name === "node_modules" ? "my-agent" : name;
}

function formatNextSteps(folder: string, files: Files, { cwd }: Io): string {
  const place = relative(cwd, folder);
  const steps = [
    ...(place === "" ? [] : [`cd ${quoteShellPath(place)}`]),
    "npm install",
    "npm test",
    "npx capstan",
  ];
  return [
    `Made a project in ${place === "" ? "this folder" : place}:`,
    ...files.map(([path]) => `  ${path}`),
    "",
    "Next:",
    ...steps.map((step) => `  ${step}`),
    "",
  ].join("\n");
}

const quoteShellPath = (path: string): string =>
  /^[\w./@+-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
