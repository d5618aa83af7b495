import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { McpTools } from "@capstan/mcp";
import { run } from "capstan";
import { memory } from "capstan/stores/memory";
import { scriptedModel } from "capstan/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { about, type BridgeOptions, bridge, policy } from "./agent.ts";
import { startChildServers } from "./child-servers.ts";
import { formatTextCall } from "./testing/text-call.ts";

const data = mkdtempSync(join(tmpdir(), "capstan-bridge-"));
let mcp: McpTools;
beforeAll(async () => {
  mcp = await startChildServers({ dataFolder: data });
});
afterAll(async () => {
  await mcp.close();
  rmSync(data, { recursive: true });
});

/** Runs the bridge with a model that returns these texts. */
async function runTexts(texts: readonly string[], options: Partial<BridgeOptions> = {}) {
  const model = scriptedModel(texts.map((text) => ({ text })));
  const agent = await bridge({ model, mcp, ...options });
  return { model, result: await run(agent, "Look.", { store: memory() }) };
}

describe("the bridge", () => {
  it("has the policy of ten turns, one retry and an answer from knowledge (S4-11, S4-16, S4-17)", () => {
    expect(policy).toEqual({
      maxTurns: 10,
      wrapUpAt: 0,
      finalTurn: "keep-tools",
      onLimit: ["best-effort"],
      toolExecution: "parallel",
      retry: { maxAttempts: 2, baseMs: 1000, factor: "linear" },
      onAllToolsFailed: "answer-from-knowledge",
      maxToolResultSize: 50_000,
      memory: "session",
      requireToolFirst: false,
      summaries: false,
    });
    expect(about.suggestions).toHaveLength(4);
  });

  it("offers the tools of its servers as text by default, natively on request (S4-06, S4-28)", async () => {
    const names = [
      ...["convert", "list_units", "time_in", "convert_time"].map((name) => `mcp_units_${name}`),
      ...["list_notes", "search_notes", "add_note", "delete_note"].map((name) => `mcp_notes_${name}`),
      "web_fetch",
    ];
    const { model } = await runTexts(["Hi."]);
    expect(model.requests[0]?.tools).toEqual([]);
    for (const name of names) expect(model.requests[0]?.instructions).toContain(`- ${name}: `);
    const native = await runTexts(["Hi."], { dialect: "native" });
    expect(native.model.requests[0]?.tools.map(({ name }) => name)).toEqual(names);
  });

  it("reads without approval, and needs approval to delete", async () => {
    const reading = await runTexts([
      formatTextCall("mcp_notes_list_notes", {}),
      formatTextCall("mcp_units_convert", { value: 1, from: "km", to: "m" }),
      "Done.",
    ]);
    expect(reading.result.status).toBe("done");
    const deleting = await runTexts([formatTextCall("mcp_notes_delete_note", { id: 1 })]);
    expect(deleting.result.pending).toMatchObject([{ name: "mcp_notes_delete_note", needs: "approval" }]);
  });
});
