/** A model that `capstan models get` knows by name. */
export type DownloadableModel = {
  readonly name: string;
  readonly url: string;
  /** About. The server says the exact size. */
  readonly megabytes: number;
  readonly license: string;
};

const host = "https://huggingface.co";

/**
 * Small instruct models, from the publishers' own repositories where they have some. No checksums: the server sends the
 * SHA-256 of each file with it.
 */
export const downloadableModels: readonly DownloadableModel[] = [
  {
    name: "qwen2.5-0.5b",
    url: `${host}/Qwen/Qwen2.5-0.5B-Instruct-GGUF/resolve/main/qwen2.5-0.5b-instruct-q4_k_m.gguf`,
    megabytes: 490,
    license: "Apache-2.0",
  },
  {
    name: "gemma-3-1b",
    url: `${host}/ggml-org/gemma-3-1b-it-GGUF/resolve/main/gemma-3-1b-it-Q4_K_M.gguf`,
    megabytes: 810,
    license: "Gemma Terms of Use",
  },
  {
    name: "llama-3.2-1b",
    url: `${host}/hugging-quants/Llama-3.2-1B-Instruct-Q4_K_M-GGUF/resolve/main/llama-3.2-1b-instruct-q4_k_m.gguf`,
    megabytes: 810,
    license: "Llama 3.2 Community License",
  },
  {
    name: "smollm2-1.7b",
    url: `${host}/HuggingFaceTB/SmolLM2-1.7B-Instruct-GGUF/resolve/main/smollm2-1.7b-instruct-q4_k_m.gguf`,
    megabytes: 1060,
    license: "Apache-2.0",
  },
  {
    name: "phi-3-mini",
    url: `${host}/microsoft/Phi-3-mini-4k-instruct-gguf/resolve/main/Phi-3-mini-4k-instruct-q4.gguf`,
    megabytes: 2390,
    license: "MIT",
  },
  {
    name: "qwen3-4b",
    url: `${host}/Qwen/Qwen3-4B-GGUF/resolve/main/Qwen3-4B-Q4_K_M.gguf`,
    megabytes: 2500,
    license: "Apache-2.0",
  },
];
