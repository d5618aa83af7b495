import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { AgentError } from "capstan";
import { dataFolder } from "capstan/data-folder";
import {
  buildEvalReport,
  compareExperiments,
  type Eval,
  type EvalReport,
  type Experiment,
  findExperiment,
  formatEvalReport,
  formatJUnit,
  formatMarkdown,
  type RunEvalOptions,
  runEval,
} from "capstan/evals";
import { ensureDataFolder } from "../../config/ensure-data-folder.ts";
import { loadProject } from "../../config/load-project.ts";
import { type ExitCode, exitCodes } from "../../exit-code.ts";
import type { Io } from "../../io.ts";
import { formatJson } from "../../output/format-json.ts";
import { formatOutput } from "../../output/format-output.ts";
import { watchInterruption } from "../../print/interruption.ts";
import { openMemory, openStore, resolveDatabase } from "../../workspace/open-store.ts";
import type { WorkspaceFlags } from "../../workspace/workspace.ts";
import { listEvalFiles, loadEvals } from "./find-evals.ts";

/** Flags of `capstan eval`. */
export type EvalFlags = WorkspaceFlags & {
  readonly against?: string;
  readonly attempts?: string;
  readonly concurrency?: string;
  readonly record?: boolean;
  readonly json?: boolean;
  readonly junit?: string;
  readonly markdown?: string;
};

type OpenedStore = Awaited<ReturnType<typeof openStore>>["store"];

/** Runs evals one after the other and reports them. */
export async function runEvals(name: string | undefined, flags: EvalFlags, io: Io): Promise<ExitCode> {
  const counts = {
    ...readCount("attempts", flags.attempts, 100),
    ...readCount("concurrency", flags.concurrency, 1000),
  };
  ensureDataFolder(dataFolder(io.env));
  // The user edits the project between two evals, so a trusted config may have changed.
  const project = await loadProject({ ...flags, acceptChanges: true, isScript: true }, io, "required");
  const evals = await loadEvals(listEvalFiles(project, io), { name, trust: flags.trust ?? false }, io);
  const { store } =
    flags.session === false ? await openMemory() : await openStore(resolveDatabase(flags, project, io));
  const interruption = watchInterruption(io);
  const controller = new AbortController();
  void interruption.first.then(() => controller.abort());
  try {
    const reports: EvalReport[] = [];
    for (const one of evals) {
      if (controller.signal.aborted) break;
      const options: RunEvalOptions = {
        ...{ store, ...counts, agents: project.config.agents ?? [], signal: controller.signal },
        ...(flags.record && { record: true }),
      };
      const report = await runOne(one, { options, store, against: flags.against }, io);
      reports.push(report);
      if (!flags.json) io.stdout.write(formatOutput(`${formatEvalReport(report)}\n`, io.stdout));
    }
    writeReports(reports, flags, io);
    if (controller.signal.aborted) return exitCodes.interrupted;
    return reports.every(({ problems }) => problems.length === 0) ? exitCodes.ok : exitCodes.failure;
  } finally {
    interruption.close();
    await store.close();
    await project.config.close?.();
  }
}

async function runOne(
  definition: Eval,
  run: {
    readonly options: RunEvalOptions;
    readonly store: OpenedStore;
    readonly against: string | undefined;
  },
  io: Io,
): Promise<EvalReport> {
  const { options, store, against } = run;
  // First, so that a wrong name costs nothing.
  const before =
    against === undefined
      ? undefined
      : await findExperiment(store, { name: definition.name, against }, Date.now());
  const experiment: Experiment = await runEval(definition, {
    ...options,
    onResult(result, { done, total }) {
      const mark = result.passed ? "passed" : "failed";
      const line = `${definition.name}: ${done} of ${total}, ${result.caseId} ${mark}\n`;
      io.stderr.write(formatOutput(line, io.stderr));
    },
  });
  return buildEvalReport(experiment, definition.thresholds, before && compareExperiments(before, experiment));
}

function writeReports(reports: readonly EvalReport[], { json, junit, markdown }: EvalFlags, io: Io): void {
  if (json) io.stdout.write(formatJson(reports));
  if (junit !== undefined) writeReport(resolve(io.cwd, junit), formatJUnit(reports));
  if (markdown !== undefined) writeReport(resolve(io.cwd, markdown), formatMarkdown(reports));
}

function writeReport(file: string, text: string): void {
  try {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  } catch (cause) {
    const { code = "unknown error" } = cause as NodeJS.ErrnoException;
    throw new AgentError("invalid_input", `The report ${file} cannot be written (${code}). Check the path.`, {
      cause,
    });
  }
}

function readCount(
  flag: "attempts" | "concurrency",
  text: string | undefined,
  most: number,
): { readonly [flag in "attempts" | "concurrency"]?: number } {
  if (text === undefined) return {};
  const count = Number(text);
  if (Number.isInteger(count) && count >= 1 && count <= most) return { [flag]: count };
  throw new AgentError("invalid_input", `--${flag} must be a whole number from 1 to ${most}, not "${text}".`);
}
