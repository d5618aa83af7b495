import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { basename, dirname, join, relative, resolve } from "node:path";
import { AgentError } from "capstan";
import type { Io } from "../io.ts";
import { checkTrust, trustFile } from "../trust/trust.ts";
import { version } from "../version.ts";
import { buildProjectFiles } from "./project-files.ts";

/** Flags of `capstan init`. */
export type InitFlags = { readonly yes?: boolean };

/** `capstan init`. Never overwrites a file. */
export async function createProject(
  given: string | undefined,
  { yes = false }: InitFlags,
  io: Io,
): Promise<void> {
  const wanted = given ?? (yes || io.stdin.isTTY !== true ? "." : await askForFolder());
  if (wanted === undefined) throw new AgentError("aborted", "Cancelled. Nothing was created.");
  const folder = resolve(io.cwd, wanted);
  const files = buildProjectFiles({ name: toPackageName(folder), version });
  await assertNoConflicts(folder, files);
  for (const [path, text] of files) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    // Fails if the file was created in the meantime.
    await writeFile(join(folder, path), text, { flag: "wx" });
  }
  // We wrote the config, and the user asked for it.
  await trustFile(checkTrust(join(folder, "capstan.config.ts"), io.env), io.env);
  io.stdout.write(formatNextSteps(folder, files, io));
}

async function askForFolder(): Promise<string | undefined> {
  const { isCancel, text } = await import("@clack/prompts");
  const answer = await text({ message: "Project folder?", initialValue: "./my-agent" });
  return isCancel(answer) ? undefined : answer;
}

type Files = ReturnType<typeof buildProjectFiles>;

async function assertNoConflicts(folder: string, files: Files): Promise<void> {
  const taken = files.map(([path]) => path).filter((path) => existsSync(join(folder, path)));
  if (taken.length === 0) return;
  const message = `${folder} already contains ${taken.join(", ")}. Choose another folder, as in \`capstan init my-agent\`, or move the files away.`;
  throw new AgentError("invalid_input", message);
}

/** Converts the folder name to a valid npm package name. */
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
    `Created a project in ${place === "" ? "this folder" : place}:`,
    ...files.map(([path]) => `  ${path}`),
    "",
    "Next:",
    ...steps.map((step) => `  ${step}`),
    "",
  ].join("\n");
}

const quoteShellPath = (path: string): string =>
  /^[\w./@+-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
