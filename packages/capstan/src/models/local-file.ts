// Models in GGUF files live in their own package, `@capstan/local`, which is imported when it is first used.
import { AgentError } from "../base/errors.ts";
import type { Model } from "../kernel/model.ts";

/** Returns a downloaded model by its name. Rejects with `model_not_found` without the package or the file. */
export async function loadLocalFile(name: string): Promise<Model> {
  // Not a literal: the package depends on this one, so that neither could be built first.
  const specifier = "@capstan/local";
  const module = (await import(/* @vite-ignore */ specifier).catch((cause: unknown) => {
    const message =
      "Models in GGUF files need @capstan/local. Run `npm install @capstan/local node-llama-cpp`.";
    throw new AgentError("model_not_found", message, { cause });
  })) as { openModel(name: string): Promise<Model> };
  return module.openModel(name);
}
