import type { AddCommand } from "../commands/command.ts";

const examples = `
Examples:
  $ capstan init my-agent     in a new folder
  $ capstan init --yes        in this one

It never writes over a file.`;

/** `capstan init`. */
export const addInit: AddCommand = (program, io) => {
  program
    .command("init")
    .description("make a small project: an agent, a tool, and a test of it")
    .argument("[folder]", "where; made if it does not exist")
    .option("-y, --yes", "ask nothing: without a folder, in this one")
    .addHelpText("after", examples)
    .action(async (folder, flags) => {
      const { createProject: init } = await import("./create-project.ts");
      await init(folder, flags, io);
    });
};
