import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type LlamaFileModel, type LlamaOptions, llama } from "../llama.ts";
import { type TinyGgufOptions, writeTinyGguf } from "./tiny-gguf.ts";

/** Tokens that end texts, lists and objects: without a preference for them, random answers are long. */
export const closingTokens = { '"': 3, "}": 2.5, "]": 3, ",": 0.5, "<|im_end|>": 1.5 } as const;

/** Never ends an answer. */
export const endless = { "<|im_end|>": -50, "<|endoftext|>": -50 } as const;

export type TinyModel = { readonly model: LlamaFileModel; readonly file: string; remove(): Promise<void> };

/** Writes a tiny GGUF file to a temporary folder and returns its model. */
export async function createTinyModel(
  gguf: TinyGgufOptions = { preferred: closingTokens },
  options: Partial<LlamaOptions> = {},
): Promise<TinyModel> {
  const folder = await mkdtemp(join(tmpdir(), "capstan-gguf-"));
  const file = join(folder, "tiny.gguf");
  await writeTinyGguf(file, gguf);
  const model = llama({ file, gpu: false, threads: 1, contextSize: 2048, ...options });
  const remove = async () => {
    await model.close();
    await rm(folder, { recursive: true, force: true });
  };
  return { model, file, remove };
}
