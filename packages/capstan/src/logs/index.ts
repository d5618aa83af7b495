export { type MaskedStream, maskedStream, maskSecrets } from "../secrets/mask-secrets.ts";
export { type JsonLinesOptions, jsonLines } from "./json-lines.ts";
export { type ReadableLogOptions, readableLog } from "./readable-log.ts";
export { type ReasoningLogOptions, reasoningLog } from "./reasoning-log.ts";
