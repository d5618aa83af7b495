import { rejectArguments } from "../../errors/unknown-command.ts";
import type { AddCommand } from "../command.ts";

const examples = `
Examples:
  $ capstan schedule                                          what is scheduled, and what was missed
  $ capstan schedule add "tomorrow at 9" "Water the plants"
  $ capstan schedule add "every weekday at 8:15" "Summarize the news" --agent helper
  $ capstan schedule add "0 9 * * 1-5" "Stand-up notes" --time-zone Europe/Oslo --in <session>
  $ capstan schedule pause <id>                               until: capstan schedule resume <id>
  $ capstan schedule run <id>                                 once more, now

A server (\`capstan serve\`) or a worker (\`capstan worker\`) of this project starts what is due. An id may be shortened
to its first characters.`;

/** Adds `capstan schedule`. */
export const addSchedule: AddCommand = (program, io, outcome) => {
  const actions = () => import("./schedule-actions.ts");
  const schedule = program
    .command("schedule")
    .description("start runs at a time, at intervals, or by cron")
    .option("--json", "print a JSON list")
    .addHelpText("after", examples)
    .allowExcessArguments()
    .action(async (_options, command) => {
      await rejectArguments(command);
      await (await actions()).showSchedules(command.optsWithGlobals(), io);
    });
  schedule
    .command("list")
    .description("list what is scheduled")
    .option("--json", "print a JSON list")
    .action(async (_options, command) => (await actions()).showSchedules(command.optsWithGlobals(), io));
  schedule
    .command("add")
    .description("schedule a message")
    .argument("<when>", "a date, words such as `tomorrow at 9`, or a cron expression")
    .argument("<message>")
    .option("--in <session>", "continue this session; by default, each run has its own")
    .option("--time-zone <name>", "such as Europe/Oslo (default: this machine's)")
    .option("--skip-missed", "if no process was there at a time, start no run late")
    .action(async (...given) => {
      const [when, message, , command] = given;
      await (await actions()).addNewSchedule({ when, message }, command.optsWithGlobals(), io);
    });
  for (const [name, description] of [
    ["remove", "remove a schedule; its runs are kept"],
    ["pause", "stop a schedule until it is resumed"],
    ["resume", "continue a paused schedule with its next time"],
  ] as const)
    schedule
      .command(name)
      .description(description)
      .argument("<id>")
      .action(async (id, _options, command) =>
        (await actions()).changeSchedule(name, id, { flags: command.optsWithGlobals(), io }),
      );
  schedule
    .command("run")
    .description("run the message of a schedule now, and print the answer")
    .argument("<id>")
    .action(async (id, _options, command) => {
      outcome.exitCode = await (await actions()).runSchedule(id, command.optsWithGlobals(), io);
    });
};
