import type { AddCommand } from "../command.ts";

const examples = `
Examples:
  $ capstan replay 1f3a                 without delays
  $ capstan replay 1f3a --speed 10      ten times the original speed
  $ capstan replay 1f3a --stream-json   the recorded events as JSON lines

Nothing is executed: no model is called and no tool runs.`;

/** Adds `capstan replay`. */
export const addReplay: AddCommand = (program, io) => {
  program
    .command("replay")
    .description("replay the events of a session")
    .argument("<id>", "session id or a prefix of it")
    .option("--speed <factor>", "1 is the original speed")
    .addHelpText("after", examples)
    .action(async (id, _options, command) => {
      const { replaySession } = await import("./replay-session.ts");
      await replaySession(id, command.optsWithGlobals(), io);
    });
};
