import type { Route } from "./route.ts";
import { a2aRoutes } from "./a2a.ts";
import { aboutRoutes } from "./about.ts";
import { agUiRoutes } from "./ag-ui.ts";
import { agentPartRoutes } from "./agent-parts.ts";
import { agentRoutes } from "./agents.ts";
import { chatRoutes } from "./chat.ts";
import { healthRoutes } from "./health.ts";
import { mcpRoutes } from "./mcp.ts";
import { mcpServerRoutes } from "./mcp-servers.ts";
import { metricsRoutes } from "./metrics.ts";
import { modelRoutes } from "./models.ts";
import { openaiRoutes } from "./openai.ts";
import { openApiRoutes } from "./openapi.ts";
import { responseRoutes } from "./responses.ts";
import { runAgainRoutes } from "./run-again.ts";
import { runAnswerRoutes } from "./run-answers.ts";
import { runEventRoutes } from "./run-events.ts";
import { runRoutes } from "./runs.ts";
import { sessionCopyRoutes } from "./session-copies.ts";
import { sessionEventRoutes } from "./session-events.ts";
import { sessionRoutes } from "./sessions.ts";
import { signInRoutes } from "./sign-in.ts";
import { turnRoutes } from "./turns.ts";
import { uiChatRoutes } from "./ui-chat.ts";

const described: readonly Route[] = [
  ...aboutRoutes,
  ...agentRoutes,
  ...agentPartRoutes,
  ...modelRoutes,
  ...mcpServerRoutes,
  ...sessionRoutes,
  ...sessionCopyRoutes,
  ...sessionEventRoutes,
  ...runRoutes,
  ...runEventRoutes,
  ...runAnswerRoutes,
  ...runAgainRoutes,
  ...turnRoutes,
  ...healthRoutes,
  ...metricsRoutes,
  ...signInRoutes,
  ...chatRoutes,
  ...openaiRoutes,
  ...responseRoutes,
  ...mcpRoutes,
  ...a2aRoutes,
  ...uiChatRoutes,
  ...agUiRoutes,
];

/** Everything that can be asked of a server. */
export const routes: readonly Route[] = [...described, ...openApiRoutes(described)];
