export { type LlamaFileModel, type LlamaOptions, llama } from "./llama.ts";
