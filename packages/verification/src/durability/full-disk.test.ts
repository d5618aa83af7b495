import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineAgent, defineTool } from "capstan";
import { local } from "capstan/engines/local";
import { createSqliteStore, openConnection } from "capstan/internal/verification";
import { scriptedModel } from "capstan/testing";
import { expect, it, vi } from "vitest";

it("a run on a full disk stops with store_full, stored facts stay readable, and it resumes by itself when there is space (F69)", async () => {
  const folder = mkdtempSync(join(tmpdir(), "capstan-full-"));
  const connection = openConnection(join(folder, "store.db"), 100);
  const pages = connection.get<{ page_count: number }>("PRAGMA page_count")?.page_count ?? 0;
  const store = createSqliteStore(connection, { busyTimeoutMs: 100, pollMs: 50, now: () => Date.now() });
  let looks = 0;
  const look = defineTool({
    name: "look",
    description: "",
    input: {},
    effects: "none",
    execute() {
      looks += 1;
      return "x".repeat(40_000);
    },
  });
  const model = scriptedModel(({ history }) =>
    history.some((entry) => entry.type === "result")
      ? { text: "Seen." }
      : { calls: [{ name: "look", input: {} }] },
  );
  const agent = defineAgent({
    name: "looker",
    model,
    tools: [look],
    policy: { maxToolResultSize: "unlimited" },
  });
  const engine = local({ store, agents: agent, leaseMs: 400 });
  try {
    connection.exec(`PRAGMA max_page_count = ${pages + 4}`);
    await expect(engine.run(agent, "Look.", { runId: "run_1", session: "s" })).rejects.toMatchObject({
      code: "store_full",
      message: expect.stringContaining("free some space"),
    });
    expect((await store.read("s")).at(-1)?.type).toBe("tool_call_start");
    connection.exec("PRAGMA max_page_count = 100000");
    await vi.waitFor(async () => expect((await store.read("s")).at(-1)?.type).toBe("done"), 30_000);
    expect(await engine.open("run_1")).toMatchObject({ status: "done", text: "Seen." });
    expect(looks).toBeGreaterThanOrEqual(2);
    const results = (await store.read("s")).filter((fact) => fact.type === "tool_call_result");
    expect(results).toHaveLength(1);
  } finally {
    await engine.close();
    await store.close();
    rmSync(folder, { recursive: true });
  }
});
