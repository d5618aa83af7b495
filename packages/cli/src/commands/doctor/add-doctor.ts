import type { AddCommand } from "../command.ts";

const examples = `
Examples:
  $ capstan doctor             makes no network requests
  $ capstan doctor --online    also sends one request to the model
  $ capstan doctor --json

✓ ok, ! works with a limitation, ✗ broken: the line says what to do. The exit code is 1 when something is broken.`;

/** Adds `capstan doctor`. */
export const addDoctor: AddCommand = (program, io, outcome) => {
  program
    .command("doctor")
    .description(
      "check Node, data folder, database, config, model, MCP servers and clients, stuck runs, webhooks, logs and port",
    )
    .option("--online", "also send a request to the model")
    .option("--json", "print a JSON list")
    .addHelpText("after", examples)
    .action(async (_options, command) => {
      const { runDoctor: doctor } = await import("./doctor.ts");
      outcome.exitCode = await doctor(command.optsWithGlobals(), io);
    });
};
