// Runs the official conformance suite (@modelcontextprotocol/conformance): lists scenarios and collects results.
import { execFile } from "node:child_process";
import { glob, mkdtemp, readFile, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { buildProgramArguments } from "@capstan/verification/program-arguments";

/** Supported protocol revisions. */
export const versions = ["2025-11-25", "2026-07-28"] as const;
export type Version = (typeof versions)[number];
/** The side under test. */
export type Side = "server" | "client";
export type Scenario = {
  readonly side: Side;
  readonly version: Version;
  readonly name: string;
  /** Why the scenario is run but not required, such as "extension". */
  readonly notScored?: string;
};
export type ScenarioResult = Scenario & {
  readonly checks: number;
  /** Failures and warnings. Empty if everything passed. */
  readonly problems: readonly string[];
};
type Check = {
  readonly id: string;
  readonly status: string;
  readonly errorMessage?: string;
  readonly description?: string;
};

const runner = createRequire(import.meta.url).resolve("@modelcontextprotocol/conformance/package.json");
const timeoutMs = 30_000;

/** Rejects only if the suite does not start; its exit code is part of the result. */
function runConformance(parameters: readonly string[]): Promise<{ exitCode: number; output: string }> {
  const file = join(dirname(runner), "dist", "index.js");
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [file, ...parameters], { maxBuffer: 2 ** 26 }, (error, stdout, stderr) => {
      if (error && typeof error.code !== "number") reject(error);
      else resolve({ exitCode: Number(error?.code ?? 0), output: `${stdout}${stderr}` });
    });
  });
}

/** Lists the required scenarios of a revision, and those that are reported but not scored. */
export async function listScenarios(version: Version): Promise<Scenario[]> {
  const { output } = await runConformance(["list", "--requirements", version]);
  let side: Side = "server";
  let notScored: string | undefined;
  const scenarios: Scenario[] = [];
  for (const line of output.split("\n")) {
    const heading = /^(Server|Client) scenarios/.exec(line)?.[1]?.toLowerCase();
    if (heading) side = heading as Side;
    notScored = /^ {2}([\w-]+) \(\d+\):$/.exec(line)?.[1] ?? notScored;
    const [, name, own] = /^ +- (\S+)(?: \[(\w+)\])?$/.exec(line) ?? [];
    if (name === undefined) continue;
    scenarios.push({
      side: (own as Side | undefined) ?? side,
      version,
      name,
      ...(own && notScored && { notScored }),
    });
  }
  return scenarios;
}

/** Runs all server scenarios of a revision in one process. */
export async function runServerScenarios(
  url: string,
  version: Version,
  scenarios: readonly Scenario[],
): Promise<ScenarioResult[]> {
  return withTemporaryFolder(async (folder) => {
    const only = scenarios.length === 1 ? scenarios[0]?.name : undefined;
    const selection =
      only === undefined
        ? ["--requirements", version]
        : ["--scenario", only, "--spec-version", version, "--force"];
    await runConformance([
      "server",
      "--url",
      url,
      ...selection,
      "--timeout",
      String(timeoutMs),
      "-o",
      folder,
    ]);
    return Promise.all(scenarios.map((scenario) => readChecks(folder, scenario)));
  });
}

/** Runs one client scenario. The suite starts client-under-test.ts. */
export async function runClientScenario(scenario: Scenario): Promise<ScenarioResult> {
  const client = join(import.meta.dirname, "client-under-test.ts");
  // The suite passes the command to a shell.
  const command = [process.execPath, ...buildProgramArguments(client)]
    .map((part) => JSON.stringify(part))
    .join(" ");
  return withTemporaryFolder(async (folder) => {
    const { exitCode, output } = await runConformance([
      ...["client", "--command", command, "--scenario", scenario.name, "--spec-version", scenario.version],
      ...["--force", "--timeout", String(timeoutMs), "-o", folder],
    ]);
    const result = await readChecks(folder, scenario);
    if (exitCode === 0) return result;
    const stderr = /\nStderr:\n([\s\S]*?)\nResults saved/.exec(output)?.[1] ?? "Timed out.";
    const end = `The client failed: ${stderr.trim().slice(0, 2_000)}`;
    return { ...result, problems: [...result.problems, end] };
  });
}

async function withTemporaryFolder<Result>(act: (folder: string) => Promise<Result>): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), "capstan-conformance-"));
  try {
    return await act(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The suite writes one folder per scenario, named with a timestamp. */
async function readChecks(folder: string, scenario: Scenario): Promise<ScenarioResult> {
  const prefix = scenario.side === "server" ? "server-" : "";
  const files = await Array.fromAsync(glob(`${prefix}${scenario.name}-20*/checks.json`, { cwd: folder }));
  const [file] = files;
  if (file === undefined) return { ...scenario, checks: 0, problems: ["The suite wrote no result."] };
  const checks: readonly Check[] = JSON.parse(await readFile(join(folder, file), "utf8"));
  const passed = checks.filter(({ status }) => status === "SUCCESS").length;
  const problems = checks
    .filter(({ status }) => status === "FAILURE" || status === "WARNING")
    .map(({ id, errorMessage, description }) => `${id}: ${errorMessage ?? description ?? "no reason given"}`);
  if (passed === 0 && problems.length === 0) problems.push("Nothing was checked.");
  return { ...scenario, checks: passed, problems };
}
