import { rejectArguments } from "../../errors/unknown-command.ts";
import type { AddCommand } from "../command.ts";

const examples = `
Examples:
  $ capstan sessions                       the newest ones
  $ capstan sessions list --here --json    those of this folder, for a script
  $ capstan sessions search "blue whale"
  $ capstan sessions show 1f3a             the beginning of an id is enough
  $ capstan sessions export 1f3a --format html -o talk.html
  $ capstan sessions rename 1f3a "The whale talk"
  $ capstan sessions rm 1f3a 2b --yes

Go on with one: capstan --resume <id>`;

/** `capstan sessions`: what is stored. */
export const addSessions: AddCommand = (program, io) => {
  const actions = () => import("./session-actions.ts");
  const sessions = program
    .command("sessions")
    .description("list, show, search, export, rename and remove sessions")
    .addHelpText("after", examples)
    .allowExcessArguments()
    .action(async (_options, command) => {
      await rejectArguments(command);
      await (await actions()).listSessionsCommand(command.optsWithGlobals(), io);
    });
  sessions
    .command("list")
    .alias("ls")
    .description("the newest sessions first")
    .option("--most <number>", "how many", "20")
    .option("--here", "only those that were begun in this folder")
    .option("--json", "as a JSON list")
    .action(async (_options, command) =>
      (await actions()).listSessionsCommand(command.optsWithGlobals(), io),
    );
  sessions
    .command("show")
    .description("a session to read, with its runs and what they cost")
    .argument("<id>", "or its beginning")
    .option("--json", "as a JSON object, without the conversation")
    .action(async (id, _options, command) =>
      (await actions()).showSession(id, command.optsWithGlobals(), io),
    );
  sessions
    .command("search")
    .description("sessions in which all these words were said")
    .argument("<words...>")
    .option("--json", "as a JSON list")
    .action(async (words, _options, command) =>
      (await actions()).searchSessions(words.join(" "), command.optsWithGlobals(), io),
    );
  sessions
    .command("export")
    .description("the same as `capstan export`")
    .argument("<id>")
    .option("--format <format>", "md, json or html", "md")
    .option("-o, --output <file>", "where to; - is stdout", "-")
    .action(async (id, _options, command) => {
      const { exportSession } = await import("../export/export-session.ts");
      await exportSession(id, command.optsWithGlobals(), io);
    });
  sessions
    .command("rename")
    .description("give a session a title; an empty one takes it away")
    .argument("<id>")
    .argument("<title>")
    .action(async (...given) => {
      const [id, title, , command] = given;
      await (await actions()).renameSession(id, title, { flags: command.optsWithGlobals(), io });
    });
  sessions
    .command("rm")
    .description("remove sessions and their logs, for good")
    .argument("<ids...>")
    .option("-y, --yes", "do not ask")
    .action(async (ids, _options, command) =>
      (await actions()).removeSessions(ids, command.optsWithGlobals(), io),
    );
};
