import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { McpTools } from "@capstan/mcp";
import { run } from "capstan";
import { memory } from "capstan/stores/memory";
import { scriptedModel } from "capstan/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { about, type BridgeOptions, bridge, policy } from "./agent.ts";
import { childServers } from "./child-servers.ts";
import { textCall } from "./testing/text-call.ts";

const data = mkdtempSync(join(tmpdir(), "capstan-bridge-"));
let mcp: McpTools;
beforeAll(async () => {
  mcp = await childServers({ data });
});
afterAll(async () => {
  await mcp.close();
  rmSync(data, { recursive: true });
});

/** A run of the bridge on a model that says these texts. */
async function ask(texts: readonly string[], options: Partial<BridgeOptions> = {}) {
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

  it("offers the tools of its servers in the prompt, in text by default, natively when asked to (S4-06, S4-28)", async () => {
    const names = [
      ...["convert", "list_units", "time_in", "convert_time"].map((name) => `mcp_units_${name}`),
      ...["list_notes", "search_notes", "add_note", "delete_note"].map((name) => `mcp_notes_${name}`),
      "web_fetch",
    ];
    const { model } = await ask(["Hi."]);
    expect(model.requests[0]?.tools).toEqual([]);
    for (const name of names) expect(model.requests[0]?.instructions).toContain(`- ${name}: `);
    const native = await ask(["Hi."], { dialect: "native" });
    expect(native.model.requests[0]?.tools.map(({ name }) => name)).toEqual(names);
  });

  it("reads with its own servers without asking, and asks before it deletes", async () => {
    const reading = await ask([
      textCall("mcp_notes_list_notes", {}),
      textCall("mcp_units_convert", { value: 1, from: "km", to: "m" }),
      "Done.",
    ]);
    expect(reading.result.status).toBe("done");
    const deleting = await ask([textCall("mcp_notes_delete_note", { id: 1 })]);
    expect(deleting.result.pending).toMatchObject([{ name: "mcp_notes_delete_note", needs: "approval" }]);
  });
});
