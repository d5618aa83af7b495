export { type LlamaFileModel, type LlamaOptions, llama } from "./llama.ts";
export { openModel } from "./open-model.ts";
