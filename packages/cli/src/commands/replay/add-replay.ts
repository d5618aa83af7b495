import type { AddCommand } from "../command.ts";

const examples = `
Examples:
  $ capstan replay 1f3a                 all at once
  $ capstan replay 1f3a --speed 10      ten times as fast as it was
  $ capstan replay 1f3a --stream-json   the recorded events as lines of JSON

Nothing is executed: no model is asked, no tool runs.`;

/** `capstan replay`: what happened in a session, again. */
export const addReplay: AddCommand = (program, io) => {
  program
    .command("replay")
    .description("show what happened in a session, step by step")
    .argument("<id>", "of the session, or its beginning")
    .option("--speed <factor>", "1 is as fast as it was")
    .addHelpText("after", examples)
    .action(async (id, _options, command) => {
      const { replaySession } = await import("./replay-session.ts");
      await replaySession(id, command.optsWithGlobals(), io);
    });
};
