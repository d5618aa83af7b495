import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { McpTools } from "@capstan/mcp";
import { defineEval, type Eval, scorers } from "capstan/evals";
import { bridge } from "../agent.ts";
import { startChildServers } from "../child-servers.ts";

let folder: string | undefined;
let starting: Promise<McpTools> | undefined;

/** The servers are started once, for all attempts. */
function startServers(): Promise<McpTools> {
  folder ??= mkdtempSync(join(tmpdir(), "capstan-bridge-eval-"));
  starting ??= startChildServers({ dataFolder: folder });
  return starting;
}

const tools: Eval = defineEval({
  name: "bridge tools",
  agent: async () => bridge({ mcp: await startServers() }),
  cases: [
    {
      id: "miles",
      input: "How many miles are 42 km?",
      expected: "26.09",
      calls: [{ name: "mcp_units_convert", input: { value: 42 } }],
    },
    {
      id: "pounds",
      input: "Convert 5 kg to pounds",
      expected: "11.02",
      calls: [{ name: "mcp_units_convert", input: { value: 5 } }],
    },
    {
      id: "unknown unit",
      input: "Convert 3 parsecs to km",
      expected: "parsecs",
      calls: ["mcp_units_convert"],
      forbidden: ["web_fetch", "mcp_notes_*"],
      notes: "It reports that the unit is unknown, and does not look elsewhere.",
    },
  ],
  scorers: [scorers.contains(), scorers.callSequence(), scorers.forbiddenEffects(), scorers.maxTurns(3)],
  tools: { web_fetch: "simulated" },
  async close() {
    await (await starting)?.close();
    if (folder !== undefined) rmSync(folder, { recursive: true });
    [starting, folder] = [undefined, undefined];
  },
});

export default tools;
