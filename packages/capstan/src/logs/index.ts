export { type JsonLinesOptions, jsonLines } from "./json-lines.ts";
export { type MaskedStream, maskedStream, maskSecrets } from "./mask-secrets.ts";
export { type ReadableLogOptions, readableLog } from "./readable-log.ts";
export { type ReasoningLogOptions, reasoningLog } from "./reasoning-log.ts";
