import type { AddCommand } from "../commands/command.ts";

const examples = `
Examples:
  $ capstan init my-agent     in a new folder
  $ capstan init --yes        in this one

Existing files are never overwritten.`;

/** Adds `capstan init`. */
export const addInit: AddCommand = (program, io) => {
  program
    .command("init")
    .description("create a small project: an agent, a tool and a test")
    .argument("[folder]", "target folder, created if missing")
    .option("-y, --yes", "do not ask: use this folder by default")
    .addHelpText("after", examples)
    .action(async (folder, flags) => {
      const { createProject: init } = await import("./create-project.ts");
      await init(folder, flags, io);
    });
};
