import { AgentError } from "capstan";
import type { LlamaModel } from "node-llama-cpp";
import { GgufError, type GgufHeader, readGgufHeader } from "./gguf-header.ts";
import type { Engine } from "./load-library.ts";

/** A loaded model, and the texts of its tokens as the file has them. */
export type LoadedFile = { readonly model: LlamaModel; readonly tokens: readonly string[] };

/**
 * Loads a GGUF file. Rejects with `model_not_found` if it does not exist, `model_file_invalid` if it is damaged or its
 * architecture is unknown, `out_of_memory` if it does not fit.
 */
export async function loadFile(engine: Engine, file: string, gpuLayers?: number): Promise<LoadedFile> {
  const { tokens } = await readHeader(file);
  engine.errors.length = 0;
  try {
    const options = { modelPath: file, ...(gpuLayers !== undefined && { gpuLayers }) };
    return { model: await engine.llama.loadModel(options), tokens };
  } catch (cause) {
    if (cause instanceof engine.library.InsufficientMemoryError) throw createMemoryError(file, cause);
    const detail = engine.errors.find((text) => /error|unknown|invalid|failed/i.test(text));
    const problem = detail ?? (cause instanceof Error ? cause.message : String(cause));
    throw createFileError(file, `does not load: ${problem}`, cause);
  }
}

export function createMemoryError(file: string, cause: unknown): AgentError {
  const message = `Not enough memory for the model ${file}. Use a smaller model or quantization, a smaller contextSize, or close other models.`;
  return new AgentError("out_of_memory", message, { cause });
}

function createFileError(file: string, problem: string, cause: unknown): AgentError {
  const message = `The model file ${file} cannot be used: it ${problem.replace(/\.$/, "")}. Download it again, or use another file.`;
  return new AgentError("model_file_invalid", message, { cause });
}

async function readHeader(file: string): Promise<GgufHeader> {
  try {
    return await readGgufHeader(file);
  } catch (cause) {
    if (cause instanceof GgufError) throw createFileError(file, cause.message, cause);
    const message = `Model file not found: ${file}. Check the path, or run \`capstan models get\` to download a model.`;
    throw new AgentError("model_not_found", message, { cause });
  }
}
