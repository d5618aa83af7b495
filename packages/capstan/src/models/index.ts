export { type CompatibleOptions, compatible } from "./compatible.ts";
export { type DefaultModelOptions, defaultModel } from "./default-model.ts";
export { fallback } from "./fallback.ts";
export { fromAiSdk } from "./from-ai-sdk.ts";
export { fromGenerate, type Generate, type Generated } from "./from-generate.ts";
export { offline } from "./offline.ts";
export { type Price, type PriceList, priced } from "./priced.ts";
export { recorded } from "./recorded.ts";
export { textDialect } from "./text-dialect.ts";
