import { describe, expect, it } from "vitest";
import { fold } from "../runtime/facts.ts";
import { resume, run } from "../runtime/run.ts";
import type { Store } from "../runtime/store.ts";
import { memory } from "../stores/memory.ts";
import { createBackgroundAgents } from "../testing/background-suite.ts";
import { runApproving } from "../testing/nested-suite.ts";
import { importSession } from "./import-session.ts";
import { session } from "./session.ts";

async function playRun(): Promise<Store> {
  const store = memory();
  await runApproving(run(createBackgroundAgents([]), "Go.", { store, session: "s", runId: "r" }));
  return store;
}

describe("a session with background runs", () => {
  it("forked at any fact, suspends and finishes without old approvals", async () => {
    const store = await playRun();
    const facts = await store.read("s");
    for (const { seq } of facts) {
      const fork = await session(store, "s").fork(seq);
      const [info] = await store.listRuns(fork.id);
      expect(info?.state).not.toBe("active");
      const executed: string[] = [];
      const result = await runApproving(
        resume(createBackgroundAgents(executed), { store, runId: info?.runId ?? "" }),
      );
      expect([seq, result.status, result.text]).toEqual([seq, "done", "All known."]);
      expect(new Set(executed).size).toBe(executed.length);
    }
  });

  it("survives export and import, with the same history", async () => {
    const store = await playRun();
    const other = memory();
    const id = await importSession(other, await session(store, "s").export("json"));
    const toWords = (entries: readonly object[]) =>
      entries.map((entry) => ({ ...entry, provenance: undefined, reads: undefined }));
    expect(toWords(fold(id, await other.read(id)).history)).toEqual(
      toWords(fold("s", await store.read("s")).history),
    );
  });

  it("imported while they wait, makes none of the open calls", async () => {
    const store = memory();
    const waiting = await run(createBackgroundAgents([]), "Go.", { store, session: "s", runId: "r" });
    expect(waiting.pending).toHaveLength(2);
    const other = memory();
    await importSession(other, await session(store, "s").export("json"));
    const executed: string[] = [];
    const result = await resume(createBackgroundAgents(executed), { store: other, runId: "r" });
    expect([result.status, executed]).toEqual(["done", []]);
  });
});
