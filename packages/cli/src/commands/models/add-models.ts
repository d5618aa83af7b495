import type { AddCommand } from "../command.ts";

const examples = `
Examples:
  $ capstan models                              list models and missing keys
  $ OPENAI_API_KEY=… capstan models --json
  $ capstan -m anthropic/claude-haiku-4-5 -p "Hello"
  $ CAPSTAN_MODEL=ollama/llama3.2 capstan       default model for this command`;

/** Adds `capstan models`. */
export const addModels: AddCommand = (program, io) => {
  program
    .command("models")
    .description("list models, their prices and missing API keys")
    .option("--json", "print a JSON list")
    .addHelpText("after", examples)
    .action(async (_options, command) => {
      const { listModels } = await import("./list-models.ts");
      await listModels(command.optsWithGlobals(), io);
    });
};
