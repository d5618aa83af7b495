export type {
  Embeddings,
  EmbedOptions,
  RankedDocument,
  Reranking,
  RerankOptions,
  RerankRequest,
  Vector,
  VectorCache,
} from "../kernel/model.ts";
export { mergeSettings } from "../kernel/settings/settings.ts";
export { findSettingProblems } from "../kernel/settings/support.ts";
export { type CompatibleOptions, compatible } from "./compatible.ts";
export { type DefaultModelOptions, defaultModel } from "./default-model.ts";
export { embed, type ModelOrName, rerank } from "./embed.ts";
export { memoryVectorCache } from "./embeddings/vector-cache.ts";
export { fallback } from "./fallback.ts";
export { type DatedModelInfo, findModelInfo } from "./find-model-info.ts";
export { fromAiSdk } from "./from-ai-sdk.ts";
export { fromGenerate, type Generate, type Generated, type GenerateOptions } from "./from-generate.ts";
export { type KnownModel, type KnownModelsOptions, knownModels, type ModelPrice } from "./known-models.ts";
export {
  type FindLocalServersOptions,
  findLocalServers,
  isLocalModel,
  type LocalServer,
  type LocalServerName,
} from "./local-servers.ts";
export { type ModelInfo, type ModelTable, modelTableDate, type Price, setModelTable } from "./model-table.ts";
export { offline } from "./offline.ts";
export type { ChatQuirks } from "./openai-chat.ts";
export { createPricer, type PriceList } from "./pricing.ts";
export {
  type Environment,
  getProvider,
  type KeyState,
  keyState,
  type Provider,
  providers,
} from "./providers.ts";
export { recorded } from "./recorded.ts";
export { textDialect } from "./text-dialect.ts";
export { type WireName, wireMessages, wireNames, wireRequest } from "./wire-request.ts";
