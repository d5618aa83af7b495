// The bridge as an MCP server with the tools `query`, `search` and `fetch`. Conversations are kept in memory only. The
// model's reasoning is written to a file if the caller names one.
import { appendFileSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { type Knowledge, type McpService, type McpTools, serveMcp } from "@capstan/mcp";
import type { Agent, Event } from "capstan";
import { readableLog, reasoningLog } from "capstan/logs";

export type BridgeServiceOptions = {
  readonly agent: Agent;
  readonly mcp: McpTools;
  /** Log file for the model's reasoning. */
  readonly reasoningFile?: string;
  /** Receives a line for each event. */
  readonly debug?: (line: string) => void;
};

export function createBridgeService({ agent, mcp, reasoningFile, debug }: BridgeServiceOptions): McpService {
  const sinks: ((event: Event) => void)[] = [];
  if (reasoningFile !== undefined) sinks.push(reasoningLog(createAppender(reasoningFile)));
  if (debug) sinks.push(readableLog(debug));
  return serveMcp({
    agents: [agent],
    knowledge: createResourceKnowledge(mcp),
    name: "capstan-mcp-bridge",
    version: "0.1.0",
    instructions: "Ask with `query`. `search` and `fetch` read the resources of the MCP servers behind it.",
    onEvent: (event) => {
      for (const sink of sinks) sink(event);
    },
  });
}

function createAppender(file: string): (text: string) => void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  return (text) => appendFileSync(file, text, { mode: 0o600 });
}

/** Exposes the resources of all servers as documents: `notes/note:///1` is the resource `note:///1` of the server `notes`. */
function createResourceKnowledge(mcp: McpTools): Knowledge {
  return {
    async search(query) {
      const words = query.toLowerCase().split(/\s+/).filter(Boolean);
      const ready = mcp.status().filter(({ state }) => state === "ready");
      const found = await Promise.allSettled(
        ready.map(async ({ name: server }) =>
          (await mcp.resources(server)).flatMap(({ uri, name, title = name, description = "" }) => {
            const about = `${title} ${description}`.toLowerCase();
            return words.every((word) => about.includes(word))
              ? [{ id: `${server}/${uri}`, title, url: uri }]
              : [];
          }),
        ),
      );
      // A server without resources, or one that just stopped, must not fail the search.
      return found.flatMap((outcome) => (outcome.status === "fulfilled" ? outcome.value : []));
    },
    async fetch(id) {
      const [, server = "", uri = ""] = /^([^/]+)\/(.+)$/.exec(id) ?? [];
      if (!mcp.status().some(({ name }) => name === server)) return undefined;
      const listed = (await mcp.resources(server)).find((resource) => resource.uri === uri);
      if (!listed) return undefined;
      const { contents } = await mcp.readResource(server, uri);
      const text = contents.map((content) => ("text" in content ? content.text : "[binary]")).join("\n");
      return { id, title: listed.title ?? listed.name, url: uri, text };
    },
  };
}
