import { AgentError } from "capstan";
import type { ChatWrapper, Llama, LlamaGrammarEvaluationState, LlamaModel } from "node-llama-cpp";
import { type ChatFormat, readChatFormat } from "../chat/chat-format.ts";
import { loadFile } from "./load-file.ts";
import { type EngineOptions, type Library, loadEngine } from "./load-library.ts";
import { createSequencePool, type SequencePool } from "./sequence-pool.ts";
import { createUtf8Guards, type Utf8Guard } from "./utf8-guard.ts";

export type LoadModelOptions = EngineOptions & {
  /** Path of the GGUF file. */
  readonly file: string;
  /** Tokens of a conversation. Default: what the model supports and the memory allows, up to 16,384. */
  readonly contextSize?: number;
  /** How many requests run at once; others wait. Each needs memory for its context. Default: 2. */
  readonly parallel?: number;
  /** Layers on the GPU. Default: as many as fit. */
  readonly gpuLayers?: number;
};

/** A model in memory. */
export type LoadedModel = {
  readonly library: Library;
  readonly model: LlamaModel;
  readonly wrapper: ChatWrapper;
  readonly format: ChatFormat & { readonly hasOwnCalls: boolean };
  readonly pool: SequencePool;
  createGrammar(text: string): Promise<LlamaGrammarEvaluationState>;
  createGuard(): Utf8Guard;
  dispose(): Promise<void>;
};

/** Loads a file and its chat template. See `loadFile` for the errors. */
export async function loadModel(options: LoadModelOptions): Promise<LoadedModel> {
  const engine = await loadEngine(options);
  const { library, llama } = engine;
  const { model, tokens } = await loadFile(engine, options.file, options.gpuLayers);
  try {
    const wrapper = resolveWrapper(library, model);
    assertSupported(wrapper, options.file);
    const { file, contextSize, parallel = 2 } = options;
    return {
      library,
      model,
      wrapper,
      format: readChatFormat(wrapper),
      pool: await createSequencePool(library, model, { file, contextSize, parallel }),
      createGrammar: createGrammars(library, llama, model),
      createGuard: createUtf8Guards(library, model, tokens),
      dispose: () => model.dispose(),
    };
  } catch (error) {
    await model.dispose();
    throw error;
  }
}

/** Chooses a wrapper by the file's template; by the names in it if the template cannot be rendered. */
function resolveWrapper(library: Library, model: LlamaModel): ChatWrapper {
  const warningLogs = false;
  try {
    return library.resolveChatWrapper(model, { warningLogs, fallbackToOtherWrappersOnJinjaError: false });
  } catch {
    return library.resolveChatWrapper(model, { warningLogs, noJinja: true });
  }
}

/** These write several channels, which need a special parser. */
const channelFormats = ["Harmony", "Muse", "Functionary"];

function assertSupported({ wrapperName }: ChatWrapper, file: string): void {
  if (!channelFormats.includes(wrapperName)) return;
  const message = `The model ${file} uses the ${wrapperName} chat format, which @capstan/local cannot run. Use a model server such as Ollama, LM Studio or llama.cpp.`;
  throw new AgentError("model_file_invalid", message);
}

const maxGrammars = 32;

/** Parses each grammar once: it is the same in every turn of an agent. */
function createGrammars(library: Library, llama: Llama, model: LlamaModel): LoadedModel["createGrammar"] {
  const grammars = new Map<string, ReturnType<Llama["createGrammar"]>>();
  return async (text) => {
    const parsing = grammars.get(text) ?? llama.createGrammar({ grammar: text });
    grammars.delete(text);
    grammars.set(text, parsing);
    for (const oldest of [...grammars.keys()].slice(0, -maxGrammars)) grammars.delete(oldest);
    const grammar = await parsing.catch((cause: unknown) => {
      grammars.delete(text);
      const message =
        "The schemas of the tools and the answer are too large or too deep for a grammar. Simplify them.";
      throw new AgentError("model_rejected", message, { cause });
    });
    return new library.LlamaGrammarEvaluationState({ model, grammar });
  };
}
