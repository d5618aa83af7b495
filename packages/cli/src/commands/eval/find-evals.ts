import { existsSync, readdirSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { AgentError, isRecord, suggestName } from "capstan";
import type { Eval } from "capstan/evals";
import type { Project } from "../../config/load-project.ts";
import { findErrorLocation } from "../../errors/find-error-location.ts";
import type { Io } from "../../io.ts";
import { isTrusted, trustFolder } from "../../trust/trust.ts";

const filePattern = /\.eval\.(?:ts|mts|js|mjs)$/;

/** Lists the eval files of a project: in `evals/` next to its config, or in the folders that the config lists. */
export function listEvalFiles({ config, configFile }: Project, io: Io): readonly string[] {
  const base = configFile === undefined ? io.cwd : dirname(configFile);
  return (config.evals ?? ["evals"]).flatMap((name) => {
    const folder = resolve(base, name);
    if (!existsSync(folder)) {
      if (config.evals === undefined) return [];
      throw new AgentError(
        "invalid_definition",
        `The folder of evals ${folder} does not exist. Check "evals" in ${configFile}.`,
      );
    }
    const files = readdirSync(folder).filter((file) => filePattern.test(file));
    return files.sort().map((file) => join(folder, file));
  });
}

/** Loads the evals of these files, or the one with this name. Files are code, so their folders must be trusted. */
export async function loadEvals(
  files: readonly string[],
  { name, trust = false }: { readonly name: string | undefined; readonly trust?: boolean },
  io: Io,
): Promise<readonly Eval[]> {
  if (files.length === 0) {
    const message = "No evals found. Create evals/<name>.eval.ts; `capstan eval --help` shows one.";
    throw new AgentError("not_found", message);
  }
  for (const folder of new Set(files.map((file) => dirname(file)))) await assertTrusted(folder, trust, io);
  const evals = (await Promise.all(files.map(loadEvalFile))).flat();
  const names = evals.map((one) => one.name);
  const twice = names.find((one, index) => names.indexOf(one) !== index);
  if (twice !== undefined)
    throw new AgentError("invalid_definition", `Two evals are named "${twice}": rename one.`);
  const found = name === undefined ? evals : evals.filter((one) => one.name === name);
  if (found.length > 0) return found;
  const hint = suggestName(name ?? "", names) || ` There are: ${names.join(", ")}.`;
  throw new AgentError("not_found", `There is no eval "${name}".${hint}`);
}

async function assertTrusted(folder: string, trust: boolean, io: Io): Promise<void> {
  if (trust) await trustFolder(folder, io.env);
  if (isTrusted(folder, io.env)) return;
  const message = `${folder} has code, and is not trusted. Review it, then run capstan once with --trust.`;
  throw new AgentError("invalid_definition", message);
}

async function loadEvalFile(file: string): Promise<readonly Eval[]> {
  let module: { readonly [name: string]: unknown };
  try {
    module = await import(pathToFileURL(file).href);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message.split("\n")[0] : String(cause);
    const place = findErrorLocation(cause, dirname(file));
    const where = place === undefined ? "" : ` (${place})`;
    throw new AgentError("invalid_definition", `Cannot load ${file}: ${why}${where}`, { cause });
  }
  const evals = [...new Set(Object.values(module).flat())].filter(isEval);
  if (evals.length > 0) return evals;
  const message = `${file} exports no eval. Add \`export default defineEval({ … })\`.`;
  throw new AgentError("invalid_definition", message);
}

function isEval(value: unknown): value is Eval {
  return (
    isRecord(value) && Array.isArray(value.scorers) && "cases" in value && typeof value.name === "string"
  );
}
