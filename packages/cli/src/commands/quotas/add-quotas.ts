import type { Command } from "commander";
import { rejectArguments } from "../../errors/unknown-command.ts";
import type { AddCommand } from "../command.ts";

const examples = `
Examples:
  $ capstan quotas                                    who has used how much
  $ capstan quotas set alice --runs 10/minute --runs 500/day --cost 5/day
  $ capstan quotas set --all --tokens 2m/day --storage 1gb
  $ capstan quotas set alice --tokens unlimited       overrides the quota of all users
  $ capstan quotas clear alice                        back to the quotas of all users

Windows are minute, hour, day and month, in UTC. Quotas are stored in the database and hold at once in all processes.
They override \`server.quotas\` of the config. A used-up quota refuses requests with 429 until it resets.`;

const collectValues = (value: string, before: readonly string[] = []) => [...before, value];

/** Adds `capstan quotas`. */
export const addQuotas: AddCommand = (program, io) => {
  const actions = () => import("./quota-actions.ts");
  const quotas = program
    .command("quotas")
    .description("show and set what users of the server may use")
    .option("--json", "print a JSON list")
    .addHelpText("after", examples)
    .allowExcessArguments()
    .action(async (_options, command) => {
      await rejectArguments(command);
      await (await actions()).showQuotas(command.optsWithGlobals(), io);
    });
  addQuotaOptions(quotas.command("set").description("change some quotas of a user, or of all users"))
    .argument("[user]")
    .option("--all", "of all users")
    .action(async (user, _options, command) =>
      (await actions()).setQuotas(user, command.optsWithGlobals(), io),
    );
  quotas
    .command("clear")
    .description("remove the stored quotas of a user, or of all users")
    .argument("[user]")
    .option("--all", "of all users")
    .action(async (user, _options, command) =>
      (await actions()).clearQuotas(user, command.optsWithGlobals(), io),
    );
};

function addQuotaOptions(command: Command): Command {
  return command
    .option("--runs <number/window>", "runs that are started; repeat it for several windows", collectValues)
    .option("--tokens <number/window>", "input and output tokens, such as 2m/day", collectValues)
    .option("--cost <dollars/window>", "US dollars", collectValues)
    .option("--storage <bytes>", "bytes of all sessions, such as 500mb")
    .option("--sessions <number>", "number of sessions")
    .option("--concurrent-runs <number>", "active runs in all processes");
}
