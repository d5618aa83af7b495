import type { AddCommand } from "../command.ts";

const help = `
An eval runs an agent on cases and scores the runs. It is a file such as evals/refunds.eval.ts:

  import { defineEval, scorers } from "capstan/evals";
  import { support } from "../agent.ts";

  export default defineEval({
    name: "refunds",
    agent: support,
    cases: [{ id: "late", input: "My parcel is late", expected: "refund", calls: ["find_order"] }],
    scorers: [scorers.contains(), scorers.callSequence()],
    tools: { find_order: "recorded" },
    recordings: "evals/refunds.tools.jsonl",
  });

Examples:
  $ capstan eval                            all evals of the project
  $ capstan eval refunds --attempts 4       one of them, each case four times
  $ capstan eval refunds --record           calls recorded tools for real, and stores their answers
  $ capstan eval --against exp_1f3a         compares with an earlier experiment, or with a version of the agent
  $ capstan eval --junit evals.xml --markdown evals.md

Evals are in the folder evals/ beside the config, or in the folders that its "evals" lists. Runs are stored like any
others. Calls of real tools that need approval are denied, unless the eval says otherwise.

Exit code: 0 if all evals reach their thresholds and no scorer got worse, 1 if not, 2 for wrong usage.`;

/** Adds `capstan eval`. */
export const addEval: AddCommand = (program, io, outcome) => {
  program
    .command("eval")
    .description("run evals: score an agent on cases, compare versions")
    .argument("[name]", "name of an eval; all of them if omitted")
    .option("--against <version|experiment>", "compare with an experiment, or with the newest of a version")
    .option("--attempts <number>", "runs of each case")
    .option("--concurrency <number>", "runs at the same time", "4")
    .option("--record", "call recorded tools for real, and store their answers")
    .option("--json", "print the experiments as JSON")
    .option("--junit <file>", "also write a JUnit file")
    .option("--markdown <file>", "also write a summary in Markdown")
    .addHelpText("after", help)
    .action(async (name, _options, command) => {
      const { runEvals } = await import("./run-evals.ts");
      outcome.exitCode = await runEvals(name, command.optsWithGlobals(), io);
    });
};
