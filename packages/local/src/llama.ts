import { AgentError, type Model, type ModelSettings } from "capstan";
import { findSettingProblems, mergeSettings } from "capstan/models";
import { streamAnswer } from "./answer.ts";
import { type LoadedModel, type LoadModelOptions, loadModel } from "./engine/load-model.ts";

export type LlamaOptions = LoadModelOptions & {
  /** Default: `local/` and the name of the file. */
  readonly id?: string;
  /** Used where the agent and the run set nothing. */
  readonly settings?: ModelSettings;
};

/** A model in this process. The file is loaded by the first request. */
export type LlamaFileModel = Model & {
  /** Cancels running requests and frees the memory. A later request loads the file again. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
};

/**
 * Runs a GGUF file in process, through `node-llama-cpp`. Calls and structured answers follow a grammar, so they are
 * always valid. Requests beyond `parallel` wait for their turn.
 */
export function llama(options: LlamaOptions): LlamaFileModel {
  const id = options.id ?? `local/${options.file.replace(/^.*[\\/]|\.gguf$/gi, "")}`;
  let loading: Promise<LoadedModel> | undefined;
  let closing = new AbortController();
  const load = (): Promise<LoadedModel> => {
    const current = loading ?? loadModel(options);
    loading = current;
    current.catch(() => {
      if (loading === current) loading = undefined; // the next request tries again
    });
    return current;
  };
  const close = async (): Promise<void> => {
    const current = loading;
    loading = undefined;
    closing.abort(new AgentError("aborted", `The model ${id} was closed.`));
    closing = new AbortController();
    const loaded = await current?.catch(() => undefined);
    await loaded?.dispose();
  };
  return {
    id,
    checkSettings: (settings) => findSettingProblems("llama", id, settings),
    async *stream(request, context) {
      const signal = AbortSignal.any([context.signal, closing.signal]);
      const settings = mergeSettings(request.settings, options.settings);
      const loaded = await load();
      signal.throwIfAborted();
      yield* streamAnswer(loaded, { request, settings, signal });
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}
