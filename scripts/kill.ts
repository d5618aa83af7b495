// Kills workers repeatedly and checks that nothing is lost or duplicated. See packages/verification/src/durability.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { runKillTrials } from "../packages/verification/src/durability/kill-trials.ts";

const help = `npm run kill -- [options]

  --kills NUMBER   number of kills; default 10000
  --store NAME     sqlite (default) or postgres, which is started for the test
  --seed NUMBER    choose the same kills and runs again; the processes still differ. Default: a random one
  --keep           keep the files of a trial that found problems
  --help           show this text

Two workers share a store. They are killed in turn with SIGKILL, at a random instant or at a breakpoint, and restarted.
Exits with 1 if a run was lost, an acknowledged fact is missing, or an effect was duplicated.
`;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      kills: { type: "string", default: "10000" },
      store: { type: "string", default: "sqlite" },
      seed: { type: "string" },
      keep: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  const [kills, store] = [Number(values.kills), values.store];
  const seed = values.seed === undefined ? undefined : Number(values.seed);
  const isValid = Number.isInteger(kills) && kills >= 1 && (seed === undefined || Number.isInteger(seed));
  if (values.help || !isValid || (store !== "sqlite" && store !== "postgres")) {
    console.log(help);
    process.exitCode = values.help ? 0 : 2;
    return;
  }
  const folder = mkdtempSync(join(tmpdir(), "capstan-kill-"));
  const startedAt = performance.now();
  const report = await runKillTrials({
    kills,
    store,
    folder,
    ...(seed !== undefined && { seed }),
    onBatch(done, total) {
      const seconds = Math.round((performance.now() - startedAt) / 1000);
      console.log(
        `${done} of ${kills} kills in ${seconds} s: ${total.runs} runs, ${total.problems.length} problems`,
      );
    },
  });
  const { problems, ...counts } = report;
  console.log(JSON.stringify(counts, undefined, 2));
  for (const problem of problems) console.error(problem);
  console.log(problems.length > 0 ? `${problems.length} problems.` : "Nothing was lost or duplicated.");
  if (problems.length > 0 && values.keep) console.log(`Files kept in ${folder}`);
  else rmSync(folder, { recursive: true });
  process.exitCode = problems.length > 0 ? 1 : 0;
}

if (process.argv[1] === import.meta.filename) await main();
