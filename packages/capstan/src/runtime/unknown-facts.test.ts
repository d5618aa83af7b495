import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { defineAgent } from "../kernel/agent.ts";
import { resume, run } from "../runtime/run.ts";
import { sqlite } from "../stores/sqlite/sqlite.ts";
import { scriptedModel } from "../testing/scripted-model.ts";

describe("a stored fact of an unknown type", () => {
  it("is named by every run of its session, with its place (F78)", async () => {
    const folder = await mkdtemp(join(tmpdir(), "capstan-facts-"));
    const file = join(folder, "runs.db");
    const agent = defineAgent({ name: "a", model: scriptedModel([{ text: "Yes." }, { text: "On." }]) });
    const before = sqlite(file);
    await run(agent, "Go.", { store: before, session: "s", runId: "r" });
    await before.close();
    const database = new DatabaseSync(file);
    database.exec("UPDATE facts SET fact = json_set(fact, '$.type', 'dreamt') WHERE seq = 3");
    database.close();
    const store = sqlite(file);
    const message = expect.stringMatching(/^Fact 3 of session "s" has the unknown type "dreamt"/);
    const expected = { code: "newer_version", message };
    await expect(run(agent, "On.", { store, session: "s" })).rejects.toMatchObject(expected);
    await expect(resume(agent, { store, runId: "r" })).rejects.toMatchObject(expected);
    await expect(resume(agent, await store.read("s"))).rejects.toMatchObject({ code: "invalid_input" });
    await store.close();
    await rm(folder, { recursive: true });
  });
});
