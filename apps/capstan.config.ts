// The five apps in one studio: `npm start` runs `capstan dev` with it.
import { type Config, defineConfig } from "@capstan/cli";
import { defaultModel } from "capstan/models";
import { about as aboutAirport, airport } from "./airport/agent.ts";
import { about as aboutFiles, files } from "./files/agent.ts";
import { about as aboutGraph, graph } from "./graph/agent.ts";
import { about as aboutKnowledge, knowledge } from "./knowledge/agent.ts";
import { library } from "./knowledge/library/library.ts";
import { offeredToAgents } from "./knowledge/stored-agents.ts";
import { about as aboutBridge, bridge } from "./mcp-bridge/agent.ts";
import { childServers } from "./mcp-bridge/child-servers.ts";

const model = await defaultModel();
const shelf = library();
const agents = [
  await airport({ model }),
  await files({ model, studio: true }),
  await graph({ model }),
  ...(await knowledge({ model, library: shelf })),
];
// Last: if something before it fails, there are no processes yet that nobody would end.
const mcp = await childServers();

const config: Config = defineConfig({
  agents: [...agents, await bridge({ model, mcp })],
  about: {
    airport: aboutAirport,
    files: aboutFiles,
    graph: aboutGraph,
    knowledge: aboutKnowledge,
    bridge: aboutBridge,
  },
  // Agents that people make in the studio search as these do.
  storedAgents: offeredToAgents(shelf),
  mcp,
  close: () => mcp.close(),
});

export default config;
