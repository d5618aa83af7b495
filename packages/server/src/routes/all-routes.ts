import { a2aRoutes } from "./a2a.ts";
import { adminRoutes } from "./admin.ts";
import { agUiRoutes } from "./ag-ui.ts";
import { agentPartRoutes, agentRoutes } from "./agents.ts";
import { approvalRuleRoutes } from "./approval-rules.ts";
import { chatRoutes } from "./chat.ts";
import { dataFileRoutes, dataRoutes } from "./data.ts";
import { datasetRoutes } from "./datasets.ts";
import { experimentRoutes } from "./experiments.ts";
import { mcpRoutes } from "./mcp.ts";
import { mcpAppRoutes } from "./mcp-apps.ts";
import { mcpServerChangeRoutes, mcpSignInRoutes } from "./mcp-server-changes.ts";
import { mcpServerContentRoutes } from "./mcp-server-contents.ts";
import { mcpServerRoutes } from "./mcp-servers.ts";
import { memoryRoutes } from "./memories.ts";
import { messageRoutes } from "./messages.ts";
import { modelListRoutes } from "./model-list.ts";
import { modelRoutes } from "./models.ts";
import { openaiRoutes } from "./openai.ts";
import { requestRoutes } from "./requests.ts";
import { responseRoutes } from "./responses.ts";
import type { Route } from "./route.ts";
import { runListRoutes } from "./run-list.ts";
import { runAgainRoutes, runAnswerRoutes, runEventRoutes, runRoutes } from "./runs.ts";
import { scheduleRoutes } from "./schedules.ts";
import { sessionCopyRoutes, sessionEventRoutes, sessionRoutes } from "./sessions.ts";
import { signInRoutes } from "./sign-in.ts";
import { aboutRoutes, healthRoutes, metricsRoutes, openApiRoutes } from "./system.ts";
import { turnRoutes } from "./turns.ts";
import { uiChatRoutes } from "./ui-chat.ts";
import { usageRoutes } from "./usage.ts";
import { webhookRoutes } from "./webhooks.ts";

const described: readonly Route[] = [
  ...aboutRoutes,
  ...agentRoutes,
  ...agentPartRoutes,
  ...modelRoutes,
  ...mcpServerRoutes,
  ...mcpServerChangeRoutes,
  ...mcpSignInRoutes,
  ...mcpServerContentRoutes,
  ...mcpAppRoutes,
  ...dataRoutes,
  ...dataFileRoutes,
  ...sessionRoutes,
  ...sessionCopyRoutes,
  ...sessionEventRoutes,
  ...approvalRuleRoutes,
  ...runListRoutes,
  ...runRoutes,
  ...runEventRoutes,
  ...runAnswerRoutes,
  ...runAgainRoutes,
  ...turnRoutes,
  ...memoryRoutes,
  ...scheduleRoutes,
  ...datasetRoutes,
  ...experimentRoutes,
  ...requestRoutes,
  ...healthRoutes,
  ...metricsRoutes,
  ...signInRoutes,
  ...usageRoutes,
  ...adminRoutes,
  ...chatRoutes,
  ...modelListRoutes,
  ...openaiRoutes,
  ...responseRoutes,
  ...messageRoutes,
  ...mcpRoutes,
  ...a2aRoutes,
  ...uiChatRoutes,
  ...agUiRoutes,
  ...webhookRoutes,
];

/** All routes of a server. */
export const routes: readonly Route[] = [...described, ...openApiRoutes(described)];
