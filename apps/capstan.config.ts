// The five apps in one studio. `npm start` runs `capstan dev` with this file.
import { type Config, defineConfig } from "@capstan/cli";
import { defaultModel } from "capstan/models";
import { about as aboutAirport, airport } from "./airport/agent.ts";
import { loadVenue } from "./airport/load-venue.ts";
import { messages } from "./airport/messages.ts";
import { venueLoader } from "./airport/own-data.ts";
import { listTopics as listVenueTopics } from "./airport/venue/list-topics.ts";
import { about as aboutFiles, files, listModels } from "./files/agent.ts";
import { folderLoader } from "./files/own-data.ts";
import { about as aboutGraph, graph } from "./graph/agent.ts";
import { aiEvents } from "./graph/ai-events.ts";
import { pets } from "./graph/data/pets.ts";
import { listTopics as listGraphTopics } from "./graph/list-topics.ts";
import { graphLoader } from "./graph/own-data.ts";
import { about as aboutKnowledge, knowledge } from "./knowledge/agent.ts";
import { findEmbeddingModel } from "./knowledge/library/find-embedding-model.ts";
import { createLibrary } from "./knowledge/library/library.ts";
import { fictionalMailbox } from "./knowledge/mailbox.ts";
import { documentLoader } from "./knowledge/own-data.ts";
import { getStoredAgentOptions } from "./knowledge/stored-agents.ts";
import { reasoningSteps, trace } from "./knowledge/trace-names.ts";
import { about as aboutBridge, bridge } from "./mcp-bridge/agent.ts";
import { startChildServers } from "./mcp-bridge/child-servers.ts";
import { runLog } from "./mcp-bridge/run-log.ts";

const model = await defaultModel();
const venue = await loadVenue();
const library = createLibrary({ embeddings: findEmbeddingModel() });
const agents = [
  await airport({ model }),
  await files({ studio: true }),
  await graph({ model }),
  ...(await knowledge({ model, library })),
];
// Start the child processes last, so that a failure above leaves none running.
const mcp = await startChildServers();

const config: Config = defineConfig({
  agents: [...agents, await bridge({ model, mcp })],
  about: {
    // The topics help the studio to send a question to the app that it fits.
    airport: { ...aboutAirport, topics: listVenueTopics(venue) },
    files: aboutFiles,
    graph: { ...aboutGraph, topics: listGraphTopics(pets) },
    knowledge: {
      ...aboutKnowledge,
      topics: fictionalMailbox.mails.map(({ from, subject }) => `${from} ${subject}`),
    },
    bridge: aboutBridge,
  },
  models: listModels(),
  // The events in each app's own vocabulary: `?events=<name>`. The files app uses `chat`, which every server has.
  eventViews: { messages, "ai-events": aiEvents, trace, "reasoning-steps": reasoningSteps, log: runLog },
  // Opens the apps on the user's own data: `capstan app`, and in the studio.
  data: {
    airport: venueLoader({ model }),
    files: folderLoader(),
    knowledge: documentLoader({ model, mcp }),
    graph: graphLoader({ model }),
  },
  // Lets agents created in the studio use the same search tools.
  storedAgents: getStoredAgentOptions(library),
  mcp,
  evals: ["airport/evals", "files/evals", "graph/evals", "knowledge/evals", "mcp-bridge/evals"],
  close: () => mcp.close(),
});

export default config;
