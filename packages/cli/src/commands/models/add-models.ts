import type { AddCommand } from "../command.ts";

const examples = `
Examples:
  $ capstan models                              what can be asked now, and which key is missing
  $ OPENAI_API_KEY=… capstan models --json
  $ capstan -m anthropic/claude-haiku-4-5 -p "Hello"
  $ CAPSTAN_MODEL=ollama/llama3.2 capstan       the usual one, for this terminal`;

/** `capstan models`: what is configured. */
export const addModels: AddCommand = (program, io) => {
  program
    .command("models")
    .description("models that are configured, their prices, and which keys are missing")
    .option("--json", "as a JSON list")
    .addHelpText("after", examples)
    .action(async (_options, command) => {
      const { listModels } = await import("./list-models.ts");
      await listModels(command.optsWithGlobals(), io);
    });
};
