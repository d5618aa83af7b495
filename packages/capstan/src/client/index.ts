export { describeRule, describeScope } from "../kernel/approval-scope.ts";
export type { AgentInfo, AgentsClient, AgentVersionInfo, ToolInfo } from "./agents-client.ts";
export { type Client, type ClientOptions, createClient, type Health } from "./create-client.ts";
export type {
  DataClient,
  DataInfo,
  DataLoaderInfo,
  DataSourceInfo,
  NewDataSource,
  UploadedFile,
} from "./data-client.ts";
export type { Fetch } from "./environment.ts";
export type { FollowViewOptions, ViewEvent } from "./follow-events.ts";
export type { ConnectionState, FollowOptions } from "./follow-stream.ts";
export type {
  McpAnswer,
  McpCallInfo,
  McpClient,
  McpFailure,
  McpPrompt,
  McpResource,
  McpServerInfo,
  McpSettingsInfo,
  McpToolCall,
  McpToolMetadata,
  McpTrafficMessage,
  NewMcpServer,
} from "./mcp-client.ts";
export { getReasoningSteps, type ReasoningStep, reasoningSteps } from "./reasoning-steps.ts";
export { buildView, reduce, reduceAll } from "./reduce.ts";
export { restartsMessage } from "./restarts-message.ts";
export type {
  NewFeedback,
  RunListClient,
  RunListFilter,
  RunListQuery,
  RunStatisticsQuery,
} from "./run-list-client.ts";
export type {
  CallPreview,
  Difference,
  ExactRequest,
  RunRecords,
  SentTurn,
  TriedTurn,
  TurnEdits,
  WireName,
} from "./run-records.ts";
export type {
  Approval,
  RunDetails,
  RunEventsOptions,
  RunId,
  RunListOptions,
  RunRequest,
  RunsClient,
  StartedRun,
  StuckRun,
} from "./runs-client.ts";
export type {
  About,
  AboutAgent,
  AgentParts,
  KeyInfo,
  ModelInfo,
  ModelsClient,
} from "./server-client.ts";
export {
  type CallView,
  type EntryView,
  emptyView,
  type LiveView,
  type Outage,
  type PendingView,
  type RunView,
  type SessionView,
} from "./session-view.ts";
export type {
  ApprovalRule,
  Branch,
  ExportFormat,
  FactPage,
  FoundSession,
  ListedSession,
  SessionDetails,
  SessionListItem,
  SessionPage,
  SessionSummary,
  SessionsClient,
} from "./sessions-client.ts";
export { nextStage, type Stage, stageOf } from "./stage.ts";
export { filterEvent, type StreamMode, streamView } from "./stream-view.ts";
export type { SessionWatch, WatchOptions, WatchState } from "./watch-session.ts";
