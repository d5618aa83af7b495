export { type CodeModeOptions, codeMode, defaultLimits } from "./code-mode.ts";
export { formatDeclarations } from "./format-declarations.ts";
export type { ProgramLimits } from "./sandbox/protocol.ts";
