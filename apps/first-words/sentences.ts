// 150 sentences, written from what the apps offer and without knowledge of the rules of the offline model: add to them,
// but do not fit them to the rules.

import { airportSentences } from "./airport.ts";
import { filesSentences } from "./files.ts";
import { graphSentences } from "./graph.ts";
import { knowledgeSentences } from "./knowledge.ts";
import { mcpBridgeSentences } from "./mcp-bridge.ts";
import type { App, Sentence } from "./sentence.ts";

export const sentences: Readonly<Record<App, readonly Sentence[]>> = {
  airport: airportSentences,
  files: filesSentences,
  graph: graphSentences,
  knowledge: knowledgeSentences,
  "mcp-bridge": mcpBridgeSentences,
};
