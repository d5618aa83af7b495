import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineEval, type Eval, scorers } from "capstan/evals";
import { graph } from "../agent.ts";

let folder: string | undefined;

const questions: Eval = defineEval({
  name: "graph questions",
  agent() {
    folder ??= mkdtempSync(join(tmpdir(), "capstan-graph-eval-"));
    return graph({ folder });
  },
  cases: [
    {
      id: "nodes",
      input: "How many nodes are there?",
      expected: "20",
      calls: [{ name: "queryGraph", input: { query: "nodeCount" } }],
    },
    {
      id: "edges",
      input: "how many edges does the graph have",
      expected: "30",
      calls: [{ name: "queryGraph", input: { query: "edgeCount" } }],
    },
    {
      id: "samples",
      input: "What are some sample nodes?",
      expected: ["Whiskers", "cat1"],
      calls: ["sampleData"],
    },
    {
      id: "path",
      input: "What is the shortest path from Whiskers to Grace?",
      expected: ["Whiskers", "Grace"],
    },
    { id: "unknown", input: "Who wrote Les Misérables?", calls: [], notes: "The graph does not say." },
  ],
  scorers: [scorers.contains(), scorers.callSequence(), scorers.maxTurns(4)],
  close() {
    if (folder !== undefined) rmSync(folder, { recursive: true });
    folder = undefined;
  },
});

export default questions;
