import type { AddCommand } from "../command.ts";

const examples = `
Examples:
  $ capstan models                              list models and missing keys
  $ OPENAI_API_KEY=… capstan models --json
  $ capstan -m anthropic/claude-haiku-4-5 -p "Hello"
  $ CAPSTAN_MODEL=ollama/llama3.2 capstan       default model for this command
  $ capstan models get                          list models to download
  $ capstan models get qwen3-4b                 download one, then use local/qwen3-4b`;

/** Adds `capstan models`. */
export const addModels: AddCommand = (program, io) => {
  const models = program
    .command("models")
    .description("list models, their prices and missing API keys")
    .option("--json", "print a JSON list")
    .addHelpText("after", examples)
    .action(async (_options, command) => {
      const { listModels } = await import("./list-models.ts");
      await listModels(command.optsWithGlobals(), io);
    });
  models
    .command("get")
    .description("download a model in a GGUF file, or continue a download")
    .argument("[name]", "without it, lists the models that can be named")
    .option("--url <url>", "address of another GGUF file, saved under the name")
    .option("--sha256 <digest>", "checksum that the file must have")
    .option("--force", "replace a downloaded file")
    .action(async (name, _options, command) => {
      const { getModel } = await import("./get-model.ts");
      await getModel(name, command.optsWithGlobals(), io);
    });
};
