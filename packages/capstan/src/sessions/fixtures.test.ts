import { globSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { defineAgent } from "../kernel/agent.ts";
import type { Fact } from "../kernel/event.ts";
import { defineTool } from "../kernel/tool.ts";
import { fold } from "../runtime/facts.ts";
import { resume, run } from "../runtime/run.ts";
import { memory } from "../stores/memory.ts";
import { scriptedModel } from "../testing/scripted-model.ts";
import { session } from "./session.ts";
import { sessions } from "./sessions.ts";

type Fixture = {
  readonly session: { readonly id: string; readonly facts: readonly Fact[]; readonly blobs: object };
  readonly history: object[];
  readonly results: readonly { readonly runId: string; readonly [field: string]: unknown }[];
};

const folder = `${import.meta.dirname}/fixtures`;
const readFixture = (name: string): Fixture => JSON.parse(readFileSync(`${folder}/${name}`, "utf8"));
const fixtureNames = globSync("*.json", { cwd: folder }).sort();

describe("sessions stored by earlier versions", () => {
  it("exist for every version", () => {
    expect(fixtureNames).toEqual(["version-1-ends.json", "version-1-tools.json", "version-1-waiting.json"]);
  });

  it.each(fixtureNames)("%s folds to its original history and results (F78)", (name) => {
    const { session: stored, history, results } = readFixture(name);
    // Entries may gain fields, but must not lose any.
    expect(fold(stored.id, stored.facts).history).toMatchObject(history);
    for (const result of results) {
      const end = stored.facts.findLastIndex((fact) => fact.runId === result.runId);
      const { run: folded } = fold(stored.id, stored.facts.slice(0, end + 1));
      const { status, text, turns, usage, affected, reasoning } = result;
      expect({
        status: folded?.done?.status ?? "waiting",
        turns: folded?.turn,
        usage: folded?.usage,
        affected: folded?.affected,
        reasoning: folded?.reasoning,
      }).toEqual({ status, turns, usage, affected, reasoning });
      if (status !== "waiting") {
        expect(folded?.done?.text).toBe(text);
        expect(folded?.toolCalls).toEqual(result.toolCalls);
      }
    }
  });

  it.each(fixtureNames)("%s can be imported with its history and its blobs", async (name) => {
    const { session: stored } = readFixture(name);
    const store = memory();
    const imported = await sessions(store).import(JSON.stringify(stored));
    const exported = JSON.parse(await imported.export("json"));
    const toWords = (entries: readonly object[]) =>
      entries.map((entry) => ({ ...entry, provenance: undefined, reads: undefined }));
    expect(toWords(await imported.history())).toEqual(toWords(fold(stored.id, stored.facts).history));
    expect(exported.facts).toHaveLength(stored.facts.length);
    expect(exported.blobs).toEqual(stored.blobs);
  });

  it.each(fixtureNames)("%s continues with the current code (F78)", async (name) => {
    const { session: stored } = readFixture(name);
    const input = { type: "object", properties: { of: { type: "string" } }, required: ["of"] } as const;
    const send = defineTool({
      name: "send",
      description: "Sends",
      input,
      effects: "send",
      needsApproval: "It leaves the house.",
      execute: () => "sent",
    });
    const model = scriptedModel(() => ({ text: "All good." }));
    const agent = defineAgent({ name: "guide", model, tools: [send] });
    const store = memory();
    const lease = await store.lease(stored.id, "test", 1000);
    if (!lease) throw new Error("no lease");
    await store.append(stored.facts, { expected: 0, lease });
    await store.release(lease);
    const { run: last } = fold(stored.id, stored.facts);
    if (last?.done) {
      expect((await run(agent, "Go on.", { store, session: stored.id })).text).toBe("All good.");
      expect(model.requests[0]?.history.length).toBeGreaterThan(2);
      return;
    }
    const waiting = resume(agent, { store, runId: last?.id ?? "" });
    const { pending } = await waiting;
    expect(pending.map((call) => call.name)).toEqual(["send"]);
    const result = await waiting.approve(pending[0]?.callId ?? "");
    expect(result.toolCalls.at(-1)).toMatchObject({ name: "send", status: "ok" });
    expect((await session(store, stored.id).info()).runs[0]?.status).toBe("done");
  });
});
