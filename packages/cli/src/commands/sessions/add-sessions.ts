import { rejectArguments } from "../../errors/unknown-command.ts";
import type { AddCommand } from "../command.ts";

const examples = `
Examples:
  $ capstan sessions                       list the newest
  $ capstan sessions list --here --json    only this folder, for a script
  $ capstan sessions search "blue whale"
  $ capstan sessions show 1f3a             a prefix of the id is enough
  $ capstan sessions export 1f3a --format html -o talk.html
  $ capstan sessions rename 1f3a "The whale talk"
  $ capstan sessions rm 1f3a 2b --yes

To resume a session: capstan --resume <id>`;

/** Adds `capstan sessions`. */
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
    .description("list sessions, newest first")
    .option("--most <number>", "maximum number of sessions", "20")
    .option("--here", "only sessions started in this folder")
    .option("--json", "print a JSON list")
    .action(async (_options, command) =>
      (await actions()).listSessionsCommand(command.optsWithGlobals(), io),
    );
  sessions
    .command("show")
    .description("print a session with its runs and their cost")
    .argument("<id>", "session id or a prefix of it")
    .option("--json", "print a JSON object, without the conversation")
    .action(async (id, _options, command) =>
      (await actions()).showSession(id, command.optsWithGlobals(), io),
    );
  sessions
    .command("search")
    .description("find sessions that contain all these words")
    .argument("<words...>")
    .option("--json", "print a JSON list")
    .action(async (words, _options, command) =>
      (await actions()).searchSessions(words.join(" "), command.optsWithGlobals(), io),
    );
  sessions
    .command("export")
    .description("the same as `capstan export`")
    .argument("<id>")
    .option("--format <format>", "md, json or html", "md")
    .option("-o, --output <file>", "output file; - is stdout", "-")
    .action(async (id, _options, command) => {
      const { exportSession } = await import("../export/export-session.ts");
      await exportSession(id, command.optsWithGlobals(), io);
    });
  sessions
    .command("rename")
    .description("set the title of a session; an empty title removes it")
    .argument("<id>")
    .argument("<title>")
    .action(async (...given) => {
      const [id, title, , command] = given;
      await (await actions()).renameSession(id, title, { flags: command.optsWithGlobals(), io });
    });
  sessions
    .command("rm")
    .description("delete sessions and their logs permanently")
    .argument("<ids...>")
    .option("-y, --yes", "do not ask for confirmation")
    .action(async (ids, _options, command) =>
      (await actions()).removeSessions(ids, command.optsWithGlobals(), io),
    );
};
