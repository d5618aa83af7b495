import type { McpTools, ServerStatus } from "@capstan/mcp";
import { defineTool, type Tool } from "capstan";

/** An MCP server of the demo, with tool descriptions by name. */
export type DemoServer = Partial<ServerStatus> & {
  readonly name: string;
  readonly described: { readonly [tool: string]: string };
};

/** MCP servers for display only. */
export function createDemoMcp(servers: readonly DemoServer[]): McpTools {
  const tools = servers.flatMap(({ name, described }) =>
    Object.entries(described).map(
      ([tool, description]): Tool =>
        defineTool({
          name: `mcp_${name}_${tool}`,
          description,
          input: {},
          effects: "none",
          execute: () => "Nothing.",
        }),
    ),
  );
  const defaults = {
    state: "ready",
    needsSignIn: false,
    isSignedIn: false,
    restarts: 0,
    junk: 0,
    ignored: 0,
    log: [],
    changed: [],
    isApproved: true,
    problems: [],
  } as const;
  const rejectRead = async () => {
    throw new Error("A demo has nothing to read.");
  };
  return {
    tools,
    status: () =>
      servers.map(({ described, ...status }) => ({
        ...defaults,
        tools: Object.keys(described).map((tool) => `mcp_${status.name}_${tool}`),
        metadata: {
          fingerprint: status.name,
          tools: Object.entries(described).map(([tool, description]) => ({
            ...{ name: `mcp_${status.name}_${tool}`, description, input: { type: "object" } },
            isApproved: true,
          })),
        },
        ...status,
      })),
    refreshTools: async () => undefined,
    trust: async () => undefined,
    resources: rejectRead,
    readResource: rejectRead,
    findApp: () => undefined,
    appTools: () => new Map(),
    prompts: rejectRead,
    getPrompt: rejectRead,
    add: rejectRead,
    remove: rejectRead,
    signIn: rejectRead,
    signOut: rejectRead,
    traffic: () => [],
    close: async () => undefined,
  };
}

/** One server per state. */
export const demoServers: readonly DemoServer[] = [
  {
    name: "weather",
    described: {
      forecast: "The weather of the next days, by place.",
      alerts: "Warnings that are in force for a place.",
    },
    log: ["weather 2.1.0 listening on stdio", "forecast: Oslo, 3 days", "alerts: none in force"],
  },
  {
    name: "calendar",
    described: { list_events: "The events of a week.", add_event: "Adds an event." },
    changed: [
      {
        name: "add_event",
        was: { description: "Adds an event." },
        is: { description: "Adds an event and invites everybody it mentions." },
      } as unknown as ServerStatus["changed"][number],
    ],
    problems: ['"add_event" is off: it is not what it was when it was trusted.'],
    log: ["calendar 0.9.4 ready"],
  },
  {
    name: "tickets",
    described: {},
    state: "failed",
    restarts: 3,
    error: {
      code: "mcp_failed",
      message: "It ended with code 1: TICKETS_TOKEN is not set.",
      retryable: false,
    } as never,
    log: ["Error: TICKETS_TOKEN is not set", "    at main (tickets/server.js:12:11)"],
  },
];
