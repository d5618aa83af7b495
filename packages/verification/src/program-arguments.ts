import { existsSync } from "node:fs";
import { join, relative } from "node:path";

const root = join(import.meta.dirname, "../../..");

/**
 * Returns the arguments of Node that start a program of a test, given by the path of its source.
 * `scripts/built-workspace.ts` bundles the programs that many tests start; a preloaded module that changes sources needs
 * the sources.
 */
export function buildProgramArguments(source: string, needsSources = false): string[] {
  const { CAPSTAN_BUILT: built } = process.env;
  const bundle = built && join(built, "programs", relative(root, source).replace(/\.ts$/, ".js"));
  if (bundle && !needsSources && existsSync(bundle)) return ["--disable-warning=ExperimentalWarning", bundle];
  return ["--conditions=capstan-source", "--disable-warning=ExperimentalWarning", source];
}
