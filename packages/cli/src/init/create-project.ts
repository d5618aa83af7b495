import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { basename, dirname, join, relative, resolve } from "node:path";
import { AgentError } from "capstan";
import type { Io } from "../io.ts";
import { checkTrust, trustFile } from "../trust/trust.ts";
import { version } from "../version.ts";
import { buildProjectFiles, type TemplateName, templates } from "./project-files.ts";

/** Flags of `capstan init`. */
export type InitFlags = { readonly yes?: boolean; readonly template?: TemplateName };

/** `capstan init`. Never overwrites a file. */
export async function createProject(given: string | undefined, flags: InitFlags, io: Io): Promise<void> {
  const canAsk = !flags.yes && io.stdin.isTTY === true;
  const folder = resolve(io.cwd, given ?? (canAsk ? await askForFolder() : "."));
  const template = flags.template ?? (canAsk ? await askForTemplate() : "chat");
  const files = buildProjectFiles({ name: toPackageName(folder), version, template });
  await assertNoConflicts(folder, files);
  for (const [path, text] of files) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    // Fails if the file was created in the meantime.
    await writeFile(join(folder, path), text, { flag: "wx" });
  }
  // We wrote the config, and the user asked for it.
  const config = join(folder, "capstan.config.ts");
  if (existsSync(config)) await trustFile(checkTrust(config, io.env), io.env);
  io.stdout.write(formatNextSteps({ folder, files, template }, io));
}

async function askForFolder(): Promise<string> {
  const { text } = await import("@clack/prompts");
  return assertNotCancelled(await text({ message: "Project folder?", initialValue: "./my-agent" }));
}

async function askForTemplate(): Promise<TemplateName> {
  const { select } = await import("@clack/prompts");
  const names = Object.keys(templates) as TemplateName[];
  const options = names.map((value) => ({ value, label: value, hint: templates[value] }));
  return assertNotCancelled(await select<TemplateName>({ message: "What do you want to build?", options }));
}

function assertNotCancelled<Answer>(answer: Answer): Exclude<Answer, symbol> {
  if (typeof answer !== "symbol") return answer as Exclude<Answer, symbol>;
  throw new AgentError("aborted", "Cancelled. Nothing was created.");
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

type CreatedProject = { readonly folder: string; readonly files: Files; readonly template: TemplateName };

function formatNextSteps({ folder, files, template }: CreatedProject, { cwd }: Io): string {
  const place = relative(cwd, folder);
  const steps = [
    ...(place === "" ? [] : [`cd ${quoteShellPath(place)}`]),
    "npm install",
    "npm test",
    template === "server" ? "npm start" : "npx capstan",
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
