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
  $ capstan sessions approvals 1f3a         what is always allowed in it
  $ capstan sessions retry 1f3a             after the model failed
  $ capstan sessions rm 1f3a 2b --yes
  $ capstan sessions prune --older-than 90d --dry-run

To resume a session: capstan --resume <id>`;

/** Adds `capstan sessions`. */
export const addSessions: AddCommand = (program, io, outcome) => {
  const actions = () => import("./session-actions.ts");
  const sessions = program
    .command("sessions")
    .description("list, show, search, export, rename, retry and remove sessions")
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
  addSessionChanges(sessions, io, outcome);
};

/** Adds the commands that copy, change or continue a session. */
const addSessionChanges: AddCommand = (sessions, io, outcome) => {
  const actions = () => import("./session-actions.ts");
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
    .command("approvals")
    .description("list the calls that are always allowed in a session, or revoke one")
    .argument("<id>", "session id or a prefix of it")
    .option("--revoke <rule>", "id of the rule; all: every rule")
    .option("--json", "print a JSON list")
    .action(async (id, _options, command) => {
      const { showApprovalRules } = await import("./approval-rules.ts");
      await showApprovalRules(id, command.optsWithGlobals(), io);
    });
  sessions
    .command("retry")
    .description("continue a run that failed because of its model, from the call that failed")
    .argument("<id>", "session id or a prefix of it")
    .action(async (id, _options, command) => {
      const { runScript } = await import("../../print/run-script.ts");
      outcome.exitCode = await runScript({ ...command.optsWithGlobals(), resume: id, retry: true }, io);
    });
  sessions
    .command("rm")
    .description("delete sessions and their logs permanently")
    .argument("<ids...>")
    .option("-y, --yes", "do not ask for confirmation")
    .action(async (ids, _options, command) =>
      (await actions()).removeSessions(ids, command.optsWithGlobals(), io),
    );
  sessions
    .command("prune")
    .description("delete old or large sessions and their logs permanently")
    .option("--older-than <time>", "not used for this long: 90d, 12h or 45m")
    .option("--larger-than <size>", "facts and results of more than this: 500kb, 20mb or 1gb")
    .option("--user <name>", "only sessions of this user of the server")
    .option("--unfinished", "also sessions with an active or waiting run")
    .option("--dry-run", "only list the sessions")
    .option("-y, --yes", "do not ask for confirmation")
    .option("--json", "print a JSON list")
    .action(async (_options, command) => {
      const { pruneSessions } = await import("./prune-sessions.ts");
      await pruneSessions(command.optsWithGlobals(), io);
    });
};
