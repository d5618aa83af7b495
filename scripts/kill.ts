// Kills workers, many times, and looks whether anything was lost or doubled. See packages/capstan/src/durability.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { killTrials } from "../packages/capstan/src/durability/kill-trials.ts";

const help = `npm run kill -- [options]

  --kills NUMBER   how many; 10000 when left out
  --store NAME     sqlite (when left out) or postgres, which is started for it
  --keep           leave the files of a trial that found problems
  --help           this text

Two workers share a store. One after the other is killed with SIGKILL, at a random instant or at a named point of its
work, and started anew. It ends with 1 when a run was lost, an acknowledged fact is missing, or an effect was doubled.
`;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      kills: { type: "string", default: "10000" },
      store: { type: "string", default: "sqlite" },
      keep: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  const [kills, store] = [Number(values.kills), values.store];
  if (values.help || !Number.isInteger(kills) || kills < 1 || (store !== "sqlite" && store !== "postgres")) {
    console.log(help);
    process.exitCode = values.help ? 0 : 2;
    return;
  }
  const folder = mkdtempSync(join(tmpdir(), "capstan-kill-"));
  const startedAt = performance.now();
  const report = await killTrials({
    kills,
    store,
    folder,
    onBatch(done, sum) {
      const seconds = Math.round((performance.now() - startedAt) / 1000);
      console.log(
        `${done} of ${kills} kills in ${seconds} s: ${sum.runs} runs, ${sum.problems.length} problems`,
      );
    },
  });
  const { problems, ...counts } = report;
  console.log(JSON.stringify(counts, undefined, 2));
  for (const problem of problems) console.error(problem);
  console.log(
    problems.length > 0 ? `${problems.length} problems.` : "Nothing was lost, nothing was doubled.",
  );
  if (problems.length > 0 && values.keep) console.log(`The files are in ${folder}`);
  else rmSync(folder, { recursive: true });
  process.exitCode = problems.length > 0 ? 1 : 0;
}

if (process.argv[1] === import.meta.filename) await main();
