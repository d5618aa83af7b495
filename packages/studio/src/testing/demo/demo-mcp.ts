import type { McpTools, ServerStatus } from "@capstan/mcp";
import { defineTool, type Tool } from "capstan";

/** A server of a demo and its tools: their descriptions by name. */
export type DemoServer = Partial<ServerStatus> & {
  readonly name: string;
  readonly described: { readonly [tool: string]: string };
};

/** MCP servers that are only looked at. */
export function demoMcp(servers: readonly DemoServer[]): McpTools {
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
  const rest = {
    state: "ready",
    restarts: 0,
    junk: 0,
    ignored: 0,
    log: [],
    changed: [],
    problems: [],
  } as const;
  const none = async () => {
    throw new Error("A demo has nothing to read.");
  };
  return {
    tools,
    status: () =>
      servers.map(({ described, ...status }) => ({
        ...rest,
        tools: Object.keys(described).map((tool) => `mcp_${status.name}_${tool}`),
        ...status,
      })),
    refreshTools: async () => undefined,
    trust: async () => undefined,
    resources: none,
    readResource: none,
    prompts: none,
    getPrompt: none,
    close: async () => undefined,
  };
}

/** One of each kind of state. */
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
