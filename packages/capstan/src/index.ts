export {
  type Agent,
  type AgentDefinition,
  defineAgent,
  type FallbackInput,
  type Instructions,
  type InstructionsInput,
} from "./agent.ts";
export type { ApprovalRule, ApprovalScope } from "./approvals/approval-scope.ts";
export type { Leak } from "./approvals/call-check.ts";
export { type Clock, type ClockOption, systemClock } from "./clock.ts";
export { suggestName } from "./definition.ts";
export type { BusMessage, BusSubscription, DeltaBus } from "./delta-bus.ts";
export { AgentError, type ErrorCode, type ErrorData, errorCodes, isModelError } from "./errors.ts";
export { escapeInvisible } from "./escape-text.ts";
export { type Delta, type Event, type Fact, isFact, type RunStatus } from "./event.ts";
export {
  type AssistantEntry,
  type AssistantPart,
  type CallPart,
  type Citation,
  type Entry,
  type FileReference,
  type Fragment,
  formatMedia,
  type GeneratedMedia,
  getAnswerText,
  getCalls,
  getMedia,
  getText,
  type MediaPart,
  type NumberedFragment,
  type Part,
  type ReasoningPart,
  type ResultEntry,
  type ResultStatus,
  toPlainText,
  type UiHint,
  type UserEntry,
} from "./history.ts";
export type { ComputerAction, ComputerOptions } from "./hosted/computer.ts";
export type {
  CitedSource,
  HostedCall,
  HostedKind,
  HostedTool,
  HostedToolSpec,
} from "./hosted/hosted-tool.ts";
export { hostedTools } from "./hosted/hosted-tools.ts";
export type { Isolation } from "./isolation.ts";
export { isRecord, type Json, toCanonicalJson } from "./json.ts";
export type {
  Chunk,
  Model,
  ModelFiles,
  ModelRequest,
  NewFile,
  SentRequest,
  StopReason,
  StreamOptions,
  TokenLogprob,
  ToolSpec,
  Usage,
} from "./model.ts";
export { getStopReason } from "./model.ts";
export { fromGenerate, type Generate, type Generated } from "./models/from-generate.ts";
export type { HookCall } from "./perform/io.ts";
export { withErrorPrefix } from "./perform/tool-return.ts";
export {
  type Budget,
  defaultPolicy,
  type LimitAction,
  type ModelRetry,
  type Policy,
  type PolicyOverrides,
  type Retry,
} from "./policy.ts";
export { createApplicationEntry } from "./prompt/application-entry.ts";
export { contextSection } from "./prompt/context-section.ts";
export {
  citationSection,
  constraintsSection,
  dateSection,
  identitySection,
  joinInstructions,
  rulesSection,
  type StandardInstructions,
  standardInstructions,
  toolsSection,
} from "./prompt/prompt.ts";
export { isContext, type Provenance, type Source } from "./provenance.ts";
export type { ExactRequest, RequestPurpose, RequestQuery, StoredRequest } from "./requests/stored-request.ts";
export type { TextPiece } from "./requests/text-pieces.ts";
export type { PendingCall } from "./rules/pending-calls.ts";
export { type AgentToolOptions, agentTool } from "./run/agent-tool.ts";
export type { ChatMessage, RunInput } from "./run/input.ts";
export type { Hooks, ResumeOptions } from "./run/open-run.ts";
export { type QuarantineOptions, quarantine } from "./run/quarantine.ts";
export type { DoneResult, Result, ResultData } from "./run/result.ts";
export { type RunOptions, resume, run } from "./run/run.ts";
export type { Run } from "./run/run-handle.ts";
export { runSegment, type SegmentOptions } from "./run/run-segment.ts";
export type {
  Feedback,
  NamedTotals,
  RunDelivery,
  RunDurations,
  RunFilter,
  RunPage,
  RunQuery,
  RunSort,
  RunStatistics,
  RunSummary,
  RunTotals,
} from "./run-summary.ts";
export type { AgentCall, AgentContext, AgentOutput, ContextSource } from "./schema/infer-agent.ts";
export type {
  Infer,
  JsonSchema,
  Parameter,
  ParameterRecord,
  SchemaInput,
  StandardSchema,
} from "./schema/schema.ts";
export type {
  Effort,
  ModelSettings,
  SettingsInput,
  SettingsSource,
  ToolChoice,
} from "./settings/settings.ts";
export type { SettingProblem } from "./settings/support.ts";
export type {
  AppendOptions,
  FoundRun,
  Lease,
  LeaseRequest,
  MessageBody,
  OrphanOptions,
  RunCounts,
  RunInfo,
  RunMessage,
  ScopeSize,
  SessionInfo,
  SizedSession,
  Snapshot,
  Store,
} from "./store.ts";
export {
  type Answer,
  type Approval,
  type ApprovalRequest,
  defineTool,
  type Effects,
  type Outcome,
  type Question,
  type Reads,
  type SkillInfo,
  type Tool,
  type ToolCall,
  type ToolContext,
  type ToolDefinition,
  type ToolExample,
  type ToolReturn,
} from "./tool.ts";
