import type { AddCommand } from "../command.ts";

const examples = `
Examples:
  $ capstan doctor             nothing leaves this machine
  $ capstan doctor --online    also asks the model for one word
  $ capstan doctor --json

✓ works, ! works with a limit, ✗ is broken: the line says what to do. Exit code 1 when something is broken.`;

/** `capstan doctor`: what works, and what to do where something does not. */
export const addDoctor: AddCommand = (program, io, outcome) => {
  program
    .command("doctor")
    .description("check Node, data folder, database, configuration, model, MCP servers, logs and port")
    .option("--online", "ask the model for one word")
    .option("--json", "as a JSON list")
    .addHelpText("after", examples)
    .action(async (_options, command) => {
      const { runDoctor: doctor } = await import("./doctor.ts");
      outcome.exitCode = await doctor(command.optsWithGlobals(), io);
    });
};
