export { type ApiKey, type ApiKeys, apiKeys, type NewKey } from "./access/api-keys.ts";
export { type StoredQuotas, storedQuotas } from "./access/authenticate.ts";
export { loadUsage, type UserUsage } from "./access/quota-admission.ts";
export type { QuotaSettings, Quotas, QuotaWindow } from "./access/quotas.ts";
export type { ProviderRateLimits } from "./access/rate-limits.ts";
export { listUsageUsers } from "./access/usage-ledger.ts";
export {
  type CreateEngine,
  createServer,
  type EngineParts,
  type RunOwner,
  type Server,
  type ServerOptions,
} from "./create-server.ts";
export { type DrainOptions, drainOnSignals } from "./drain-on-signals.ts";
export type { EventView, EventViews, ViewEvent } from "./event-views/event-view.ts";
export {
  defaultPort,
  type ListeningHealth,
  type ListeningServer,
  type ListenOptions,
  listen,
  listenHealth,
  type NodeHandler,
  toNodeHandler,
} from "./listen.ts";
export type { McpServerFile, McpSettings } from "./mcp-settings.ts";
export type { DataSource, SourceState } from "./own-data/data-source.ts";
export type {
  DataLoader,
  LoadedData,
  LoadProgress,
  LoadReport,
  LoadRequest,
  SkippedItem,
} from "./own-data/loader.ts";
export { type NewData, type OwnData, type OwnDataOptions, openOwnData } from "./own-data/own-data.ts";
export type { RememberedSource } from "./own-data/source-catalog.ts";
export type { UploadLimits } from "./own-data/uploads.ts";
export {
  type ChatEvent,
  chatEvents,
  chatView,
  formatSseEvent,
  parseSseEvent,
} from "./protocols/chat/chat-events.ts";
export { createAgentFinder } from "./runs/agent-source.ts";
export type { Retention } from "./sessions/retention.ts";
export type { RequestLogEntry } from "./telemetry/request-log.ts";
export { type Telemetry, type TelemetryOptions, telemetry } from "./telemetry/telemetry.ts";
export type { TelemetryVariables } from "./telemetry/telemetry-variables.ts";
export type { AgentProfile, AgentProfiles } from "./views/server-info.ts";
export { countPendingDeliveries } from "./webhooks/delivery-records.ts";
export {
  checkWebhooks,
  type Webhook,
  type WebhookDelivery,
  type WebhookEvent,
  type WebhookProvider,
  type WebhookReply,
  type WebhookSecret,
  type Webhooks,
} from "./webhooks/webhook.ts";
