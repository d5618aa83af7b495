// Runs the official MCP conformance suite against our server and our client, on this machine only.
import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { startFixtureServer } from "../packages/mcp/conformance/fixture-server.ts";
import {
  listScenarios,
  runClientScenario,
  runServerScenarios,
  type Scenario,
  type ScenarioResult,
  type Side,
  type Version,
  versions,
} from "../packages/mcp/conformance/runner.ts";

const help = `npm run conformance -- [options]

  --server          only our server
  --client          only our client
  --scenario NAME   only this scenario, with the reasons when it fails
  --version DATE    only this revision: ${versions.join(" or ")}
  --help            this text

Exits with 1 if a required scenario fails that is not listed in packages/mcp/conformance/expected-failures.yaml,
or if a listed one passes.
`;

export type Verdict = "passed" | "failed" | "expected" | "stale" | "not scored";

/** Parses scenario names by side, from the runner's YAML subset: two lists of strings. */
export function parseExpectedFailures(text: string): Readonly<Record<Side, readonly string[]>> {
  const expected: Record<Side, string[]> = { server: [], client: [] };
  let side: Side | undefined;
  for (const [index, line] of text.split("\n").entries()) {
    const bare = line.replace(/(^|\s)#.*$/, "").trimEnd();
    if (bare === "") continue;
    const [, heading] = /^(server|client):(?: \[\])?$/.exec(bare) ?? [];
    const [, name] = /^ *- (\S+)$/.exec(bare) ?? [];
    if (heading) side = heading as Side;
    else if (name && side) expected[side].push(name);
    else throw new Error(`Line ${index + 1} of the expected failures is neither a side nor a name: ${line}`);
  }
  return expected;
}

export function classifyResult(
  { side, name, notScored, problems }: ScenarioResult,
  expected: Readonly<Record<Side, readonly string[]>>,
): Verdict {
  if (notScored !== undefined && problems.length > 0) return "not scored";
  if (expected[side].includes(name)) return problems.length > 0 ? "expected" : "stale";
  return problems.length > 0 ? "failed" : "passed";
}

async function runClientScenarios(scenarios: readonly Scenario[]): Promise<ScenarioResult[]> {
  const results: ScenarioResult[] = [];
  const waiting = [...scenarios];
  const runNextScenarios = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const result = await runClientScenario(next);
      results.push(result);
      console.log(`client ${next.version}: ${results.length} of ${scenarios.length}, ${next.name}`);
    }
  };
  await Promise.all(Array.from({ length: Math.min(4, availableParallelism() + 1) }, runNextScenarios));
  return scenarios.flatMap(({ name }) => results.filter((result) => result.name === name));
}

async function runScenarios(
  sides: readonly Side[],
  selectedVersions: readonly Version[],
  scenarioName: string | undefined,
): Promise<ScenarioResult[]> {
  const server = await startFixtureServer();
  const results: ScenarioResult[] = [];
  try {
    for (const version of selectedVersions) {
      const known = await listScenarios(version);
      for (const side of sides) {
        const scenarios = known.filter(
          (scenario) =>
            scenario.side === side &&
            (scenarioName === undefined
              ? scenario.notScored !== "extension"
              : scenario.name === scenarioName),
        );
        if (scenarios.length === 0) continue;
        console.log(`${side} ${version}: ${scenarios.length} scenarios`);
        results.push(
          ...(side === "server"
            ? await runServerScenarios(server.url, version, scenarios)
            : await runClientScenarios(scenarios)),
        );
      }
    }
  } finally {
    await server.close();
  }
  return results;
}

type ClassifiedResult = { readonly result: ScenarioResult; readonly verdict: Verdict };

function printReport(classifiedResults: readonly ClassifiedResult[]): void {
  console.log("");
  for (const { result, verdict } of classifiedResults) {
    const { side, version, name, checks, notScored } = result;
    const reason = notScored === undefined ? "" : ` (not required: ${notScored})`;
    console.log(`${verdict.padEnd(10)}  ${side} ${version}  ${name}, ${checks} checks${reason}`);
    if (verdict === "passed") continue;
    for (const problem of result.problems) console.log(`            ${problem}`);
  }
  console.log(`\n${"".padEnd(18)}  passed  failed  expected  not scored`);
  for (const group of new Set(classifiedResults.map(({ result }) => `${result.side} ${result.version}`))) {
    const groupResults = classifiedResults.filter(
      ({ result }) => `${result.side} ${result.version}` === group,
    );
    const countVerdicts = (...verdicts: readonly Verdict[]) =>
      String(groupResults.filter(({ verdict }) => verdicts.includes(verdict)).length);
    const cells = [countVerdicts("passed").padStart(6), countVerdicts("failed", "stale").padStart(6)];
    console.log(
      `${group.padEnd(18)}  ${cells.join("  ")}  ${countVerdicts("expected").padStart(8)}  ${countVerdicts("not scored").padStart(10)}`,
    );
  }
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      server: { type: "boolean" },
      client: { type: "boolean" },
      scenario: { type: "string" },
      version: { type: "string" },
      help: { type: "boolean" },
    },
  });
  if (values.help) return console.log(help);
  const selectedVersions = versions.filter(
    (version) => values.version === undefined || values.version === version,
  );
  const sides = (["server", "client"] as const).filter(
    (side) => values[side] || !(values.server || values.client),
  );

  const results = await runScenarios(sides, selectedVersions, values.scenario);
  if (results.length === 0) {
    console.error("Scenario not found. See --help for the options.");
    process.exitCode = 1;
    return;
  }
  const file = new URL("../packages/mcp/conformance/expected-failures.yaml", import.meta.url);
  const expected = parseExpectedFailures(readFileSync(file, "utf8"));
  const classifiedResults = results.map((result) => ({ result, verdict: classifyResult(result, expected) }));
  printReport(classifiedResults);
  if (classifiedResults.some(({ verdict }) => verdict === "stale"))
    console.error(
      "\nA listed scenario passes: remove it from packages/mcp/conformance/expected-failures.yaml.",
    );
  if (classifiedResults.some(({ verdict }) => verdict === "failed" || verdict === "stale"))
    process.exitCode = 1;
}

if (process.argv[1] === import.meta.filename) await main();
