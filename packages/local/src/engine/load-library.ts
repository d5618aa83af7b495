import { availableParallelism } from "node:os";
import { AgentError } from "capstan";
import type { Llama, LlamaOptions } from "node-llama-cpp";

/** The module `node-llama-cpp`, a peer dependency that is imported when a model is first used. */
export type Library = typeof import("node-llama-cpp");

export type Engine = {
  readonly library: Library;
  readonly llama: Llama;
  /** The last errors that llama.cpp logged, which say why a file does not load. */
  readonly errors: string[];
};

export type EngineOptions = {
  /** Default: the best that the installed binaries support. `false` uses the CPU. */
  readonly gpu?: LlamaOptions["gpu"];
  readonly threads?: number;
  /** Receives llama.cpp's messages. Default: they are dropped. */
  readonly log?: (level: string, message: string) => void;
};

const engines = new Map<string, Promise<Engine>>();
const maxErrors = 20;

/** Returns the engine of this process. Uses installed binaries only: nothing is downloaded or compiled. */
export function loadEngine(options: EngineOptions): Promise<Engine> {
  const key = JSON.stringify([options.gpu ?? "auto", options.threads]);
  const engine = engines.get(key) ?? openEngine(options);
  engines.set(key, engine);
  engine.catch(() => engines.delete(key)); // the package may be installed by the next attempt
  return engine;
}

/** The library uses four threads at least, which wait for each other: more than there are cores are very slow. */
const defaultThreads = availableParallelism() < 4 ? availableParallelism() : undefined;

async function openEngine({ gpu = "auto", threads = defaultThreads, log }: EngineOptions): Promise<Engine> {
  const library = await import("node-llama-cpp").catch((cause: unknown) => {
    const message = "Models in GGUF files need node-llama-cpp. Run `npm install node-llama-cpp`.";
    throw new AgentError("model_not_found", message, { cause });
  });
  const errors: string[] = [];
  const llama = await library
    .getLlama({
      gpu,
      build: "never",
      skipDownload: true,
      progressLogs: false,
      debug: false,
      logLevel: log ? library.LlamaLogLevel.info : library.LlamaLogLevel.error,
      logger(level, message) {
        if (level === "error" || level === "fatal") errors.push(message.trim());
        errors.splice(0, errors.length - maxErrors);
        log?.(level, message.trim());
      },
      ...(threads !== undefined && { maxThreads: threads }),
    })
    .catch((cause: unknown) => {
      const message = `node-llama-cpp has no binary for this machine (${process.platform}-${process.arch}, gpu ${JSON.stringify(gpu)}). Install its optional dependencies, or use a model server such as Ollama.`;
      throw new AgentError("model_not_found", message, { cause });
    });
  return { library, llama, errors };
}
