export {
  type Agent,
  type AgentDefinition,
  defineAgent,
  type FallbackInput,
  type Instructions,
  type InstructionsInput,
} from "./agent.ts";
export { type AgentToolOptions, agentTool } from "./agent-tool.ts";
export { type Clock, systemClock } from "./clock.ts";
export { contextSection } from "./context-section.ts";
export { AgentError, type ErrorCode, type ErrorData, errorCodes } from "./errors.ts";
export { type Delta, type Event, type Fact, isFact, type RunStatus } from "./event.ts";
export {
  type AssistantEntry,
  type AssistantPart,
  type CallPart,
  type Citation,
  type Entry,
  type Fragment,
  type NumberedFragment,
  type Part,
  plainText,
  type ReasoningPart,
  type ResultEntry,
  type ResultStatus,
  textOf,
  type UiHint,
  type UserEntry,
} from "./history.ts";
export type { ChatMessage, RunInput } from "./input.ts";
export type { Json } from "./json.ts";
export type { Source } from "./labels.ts";
export type { Chunk, Finish, Model, ModelRequest, ToolSpec, Usage } from "./model.ts";
export { fromGenerate, type Generate, type Generated } from "./models/from-generate.ts";
export { nearest } from "./near-names.ts";
export type { Hooks, ResumeOptions } from "./open-run.ts";
export type { HookedCall } from "./perform/io.ts";
export { errorText } from "./perform/tool-shapes.ts";
export {
  type Budget,
  defaultPolicy,
  type LimitAnswer,
  type Policy,
  type PolicyLayer,
  type Retry,
} from "./policy.ts";
export {
  citationSection,
  constraintsSection,
  dateSection,
  identitySection,
  instructionsOf,
  rulesSection,
  type StandardInstructions,
  standardInstructions,
  toolsSection,
} from "./prompt.ts";
export { type QuarantineOptions, quarantine } from "./quarantine.ts";
export type { PendingCall, Result } from "./result.ts";
export type { Run } from "./run-handle.ts";
export type { Infer, JsonSchema, Parameter, ParameterRecord, SchemaInput, StandardSchema } from "./schema.ts";
export { type RunOptions, resume, run } from "./session.ts";
export type { Lease, RunInfo, SessionInfo, Store, Told } from "./store.ts";
export {
  type Answer,
  defineTool,
  type Effects,
  type Outcome,
  type Question,
  type Reads,
  type Tool,
  type ToolContext,
  type ToolDefinition,
  type ToolExample,
  type ToolReturn,
} from "./tool.ts";
export { visible } from "./visible.ts";
