export { type Clock, type ClockOption, systemClock } from "./base/clock.ts";
export { suggestName } from "./base/definition.ts";
export { AgentError, type ErrorCode, type ErrorData, errorCodes, isModelError } from "./base/errors.ts";
export { escapeInvisible } from "./base/escape-text.ts";
export { isRecord, type Json, toCanonicalJson } from "./base/json.ts";
export type { BusMessage, BusSubscription, DeltaBus } from "./buses/delta-bus.ts";
export { runSegment, type SegmentOptions } from "./engines/run-segment.ts";
export type { PendingCall } from "./features/calls/pending-calls.ts";
export type {
  ExactRequest,
  RequestPurpose,
  RequestQuery,
  StoredRequest,
} from "./features/exact-requests/stored-request.ts";
export type { TextPiece } from "./features/exact-requests/text-pieces.ts";
export type { ComputerAction, ComputerOptions } from "./features/hosted/computer.ts";
export { hostedTools } from "./features/hosted/hosted-tools.ts";
export { type AgentToolOptions, agentTool } from "./features/nested/agent-tool.ts";
export {
  type Agent,
  type AgentDefinition,
  defineAgent,
  type FallbackInput,
  type Instructions,
  type InstructionsInput,
} from "./kernel/agent.ts";
export { createApplicationEntry } from "./kernel/application-entry.ts";
export type { ApprovalRule, ApprovalScope } from "./kernel/approval-scope.ts";
export type { Leak } from "./kernel/call-check.ts";
export { withErrorPrefix } from "./kernel/calls/tool-return.ts";
export { type Delta, type Event, type Fact, isFact, type RunStatus } from "./kernel/event.ts";
export { assertFactTypes } from "./kernel/fact-types.ts";
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
} from "./kernel/history.ts";
export type {
  CitedSource,
  HostedCall,
  HostedKind,
  HostedTool,
  HostedToolSpec,
} from "./kernel/hosted-tool.ts";
export type { AgentCall, AgentContext, AgentOutput, ContextSource } from "./kernel/infer-agent.ts";
export type { ErrorSource, HookCall } from "./kernel/io.ts";
export type { Isolation } from "./kernel/isolation.ts";
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
} from "./kernel/model.ts";
export { getStopReason } from "./kernel/model.ts";
export {
  type Budget,
  defaultPolicy,
  type LimitAction,
  type ModelRetry,
  type Policy,
  type PolicyOverrides,
  type Retry,
} from "./kernel/policy.ts";
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
} from "./kernel/prompt.ts";
export { isContext, type Provenance, type Source } from "./kernel/provenance.ts";
export {
  type Effort,
  effortLevels,
  type ModelSettings,
  type SettingsInput,
  type SettingsSource,
  type ToolChoice,
} from "./kernel/settings/settings.ts";
export type { SettingProblem } from "./kernel/settings/support.ts";
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
  type ToolReturn,
} from "./kernel/tool.ts";
export type { ExamplesByTool, ToolExample } from "./kernel/tool-examples.ts";
export { fromGenerate, type Generate, type Generated } from "./models/from-generate.ts";
export type { ChatMessage, RunInput } from "./runtime/input.ts";
export type { Hooks, ResumeOptions } from "./runtime/open-run.ts";
export { type QuarantineOptions, quarantine } from "./runtime/quarantine.ts";
export type { DoneResult, Result, ResultData } from "./runtime/result.ts";
export { type RunOptions, resume, run } from "./runtime/run.ts";
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
} from "./runtime/run-catalog.ts";
export type { Run } from "./runtime/run-handle.ts";
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
} from "./runtime/store.ts";
export type {
  Infer,
  JsonSchema,
  Parameter,
  ParameterRecord,
  SchemaInput,
  StandardSchema,
} from "./schema/schema.ts";
