import { join } from "node:path";
import { AgentError, suggestName } from "capstan";
import { listModelFiles, modelFolder } from "capstan/model-files";
import { type LlamaFileModel, llama } from "./llama.ts";

const models = new Map<string, LlamaFileModel>();

/**
 * Opens a model that `capstan models get` has downloaded, as `local/NAME` does. The same name gives the same model, so
 * that a file is loaded once. Rejects with `model_not_found` if it does not exist.
 */
export async function openModel(name: string): Promise<LlamaFileModel> {
  const known = await listModelFiles();
  if (!known.includes(name)) {
    const hint = suggestName(name, known) || ` Downloaded: ${known.join(", ") || "none"}.`;
    const message = `No model named "${name}" in ${modelFolder()}.${hint} Run \`capstan models get ${name}\`.`;
    throw new AgentError("model_not_found", message);
  }
  const file = join(modelFolder(), `${name}.gguf`);
  const model = models.get(file) ?? llama({ file });
  models.set(file, model);
  return model;
}
