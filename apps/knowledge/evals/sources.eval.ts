import { join } from "node:path";
import { defineEval, type Eval, scorers } from "capstan/evals";
import { knowledge } from "../agent.ts";
import { createLibrary } from "../library/library.ts";

const sources: Eval = defineEval({
  name: "knowledge sources",
  agent: async () => (await knowledge({ library: createLibrary({ indexFolder: false }) }))[0],
  cases: [
    { id: "zod", input: "What is zod?", expected: "validation", calls: ["search_knowledge_base"] },
    {
      id: "ws",
      input: "How can I detect broken connections with ws?",
      expected: "ping",
      calls: ["search_knowledge_base"],
    },
    { id: "nanoid", input: "What is Nano ID?", expected: "ID", calls: ["search_knowledge_base"] },
    { id: "mail", input: "Summarize recent emails about budget", expected: "18,400" },
  ],
  scorers: [scorers.contains(), scorers.callSequence(), scorers.supportedCitations(), scorers.maxTurns(5)],
  // The documentation on this machine changes with every installation: answers come from a recording.
  tools: { search_knowledge_base: "recorded" },
  recordings: join(import.meta.dirname, "sources.tools.jsonl"),
});

export default sources;
