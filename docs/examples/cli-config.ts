import { type Config, defineConfig } from "@capstan/cli";
import { defineAgent, defineTool } from "capstan";
import { offline } from "capstan/models/offline";
import { z } from "zod";

const gate = defineTool({
  name: "gate",
  description: "The gate of a flight",
  input: z.object({ flight: z.string() }),
  effects: "none",
  execute: ({ flight }) => `${flight} leaves from B19.`,
});

const config: Config = defineConfig({
  agents: [defineAgent({ name: "desk", model: offline(), tools: [gate] })],
  mcpServers: { tickets: { url: "https://mcp.example.com/mcp", enabled: false } },
  policy: { maxTurns: 8 },
  server: { port: 4680 },
});

export default config;
