// Runs the official conformance suite of MCP against our server and our client. Nothing leaves this machine.
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

It ends with 1 when a required scenario fails, unless packages/mcp/conformance/expected-failures.yaml names it,
and when one that is named there passes.
`;

export type Verdict = "passed" | "failed" | "expected" | "stale" | "not scored";

/** Names of scenarios by side, from the runner's own form of YAML: two lists of plain texts. */
export function readExpected(text: string): Readonly<Record<Side, readonly string[]>> {
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

/** What a result means, given what was expected. */
export function judge(
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
  const work = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const result = await runClientScenario(next);
      results.push(result);
      console.log(`client ${next.version}: ${results.length} of ${scenarios.length}, ${next.name}`);
    }
  };
  await Promise.all(Array.from({ length: Math.min(4, availableParallelism() + 1) }, work));
  return scenarios.flatMap(({ name }) => results.filter((result) => result.name === name));
}

async function run(
  sides: readonly Side[],
  chosen: readonly Version[],
  only: string | undefined,
): Promise<ScenarioResult[]> {
  const server = await startFixtureServer();
  const results: ScenarioResult[] = [];
  try {
    for (const version of chosen) {
      const known = await listScenarios(version);
      for (const side of sides) {
        const scenarios = known.filter(
          (scenario) =>
            scenario.side === side &&
            (only === undefined ? scenario.notScored !== "extension" : scenario.name === only),
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

type Judged = { readonly result: ScenarioResult; readonly verdict: Verdict };

function report(judged: readonly Judged[]): void {
  console.log("");
  for (const { result, verdict } of judged) {
    const { side, version, name, checks, notScored } = result;
    const why = notScored === undefined ? "" : ` (not required: ${notScored})`;
    console.log(`${verdict.padEnd(10)}  ${side} ${version}  ${name}, ${checks} checks${why}`);
    if (verdict === "passed") continue;
    for (const problem of result.problems) console.log(`            ${problem}`);
  }
  console.log(`\n${"".padEnd(18)}  passed  failed  expected  not scored`);
  for (const group of new Set(judged.map(({ result }) => `${result.side} ${result.version}`))) {
    const own = judged.filter(({ result }) => `${result.side} ${result.version}` === group);
    const count = (...verdicts: readonly Verdict[]) =>
      String(own.filter(({ verdict }) => verdicts.includes(verdict)).length);
    const cells = [count("passed").padStart(6), count("failed", "stale").padStart(6)];
    console.log(
      `${group.padEnd(18)}  ${cells.join("  ")}  ${count("expected").padStart(8)}  ${count("not scored").padStart(10)}`,
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
  const chosen = versions.filter((version) => values.version === undefined || values.version === version);
  const sides = (["server", "client"] as const).filter(
    (side) => values[side] || !(values.server || values.client),
  );

  const results = await run(sides, chosen, values.scenario);
  if (results.length === 0) {
    console.error(`There is no such scenario. Look at the options with --help, or leave them out.`);
    process.exitCode = 1;
    return;
  }
  const file = new URL("../packages/mcp/conformance/expected-failures.yaml", import.meta.url);
  const expected = readExpected(readFileSync(file, "utf8"));
  const judged = results.map((result) => ({ result, verdict: judge(result, expected) }));
  report(judged);
  if (judged.some(({ verdict }) => verdict === "stale"))
    console.error(
      "\nA stale scenario passes: take it out of packages/mcp/conformance/expected-failures.yaml.",
    );
  if (judged.some(({ verdict }) => verdict === "failed" || verdict === "stale")) process.exitCode = 1;
}

if (process.argv[1] === import.meta.filename) await main();
