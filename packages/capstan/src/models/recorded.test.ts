import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { assert, jsonValue, property } from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Json, toCanonicalJson } from "../base/json.ts";
import { defineAgent } from "../kernel/agent.ts";
import type { Chunk, Model, ModelRequest } from "../kernel/model.ts";
import { defineTool } from "../kernel/tool.ts";
import { run } from "../runtime/run.ts";
import { memory } from "../stores/memory.ts";
import { type ScriptedStep, scriptedModel } from "../testing/scripted-model.ts";
import { openAiChatEncoder } from "../testing/wire-encoders.ts";
import { compatible } from "./compatible.ts";
import { describeDifference } from "./recorded/request-difference.ts";
import { recorded } from "./recorded.ts";

let folder: string;
let file: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "recorded-"));
  file = join(folder, "deep", "answers.jsonl");
});

afterEach(() => rm(folder, { recursive: true }));

const requestOf = (content: string, more: Partial<ModelRequest> = {}): ModelRequest => ({
  instructions: "Be brief.",
  history: [{ type: "user", content }],
  tools: [],
  toolChoice: "auto",
  thinking: false,
  ...more,
});

async function batchesOf(model: Model, request: ModelRequest) {
  const batches: (readonly Chunk[])[] = [];
  const { signal } = new AbortController();
  for await (const batch of model.stream(request, { signal })) batches.push(batch);
  return batches;
}

const missOf = (request: ModelRequest) =>
  batchesOf(recorded(undefined, file, { mode: "replay" }), request).catch((error) => error);

describe("a recorded model", () => {
  const step: ScriptedStep = {
    text: "Grüße 😀\u2028",
    calls: [{ id: "c", name: "look", input: { at: 1 } }],
    split: 3,
  };

  it("calls the model once, then replays its batches", async () => {
    const model = scriptedModel([step], { id: "acme/one" });
    const first = await batchesOf(recorded(model, file), requestOf("Hello"));
    const again = recorded(model, file);
    expect(again.id).toBe("acme/one");
    expect(await batchesOf(again, requestOf("Hello"))).toEqual(first);
    expect(await batchesOf(recorded(undefined, file), requestOf("Hello"))).toEqual(first);
    expect(await batchesOf(recorded(undefined, file, { mode: "replay" }), requestOf("Hello"))).toEqual(first);
    expect(model.requests).toHaveLength(1);
  });

  it("replays its own recording to the same model object", async () => {
    const model = scriptedModel([step, { text: "Second." }]);
    const one = recorded(model, file);
    const first = await batchesOf(one, requestOf("Hello"));
    expect(await batchesOf(one, requestOf("Hello"))).toEqual(first);
    expect(await batchesOf(one, requestOf("Bye"))).not.toEqual(first);
    expect((await readFile(file, "utf8")).trimEnd().split("\n")).toHaveLength(2);
  });

  it("distinguishes requests by everything the model sees, whatever the order of fields", async () => {
    await batchesOf(
      recorded(scriptedModel([step]), file),
      requestOf("Hello", { output: { type: "object", title: "A" } }),
    );
    const same = requestOf("Hello", { output: { title: "A", type: "object" }, thinking: true });
    expect(await missOf(same)).toBeInstanceOf(Array);
    expect(await missOf(requestOf("Hello"))).toMatchObject({ code: "model_failed" });
    const tools = [{ name: "look", description: "Looks.", input: { type: "object" } as const }];
    expect(await missOf({ ...same, tools })).toMatchObject({ code: "model_failed" });
    expect(await missOf({ ...same, toolChoice: "none" })).toMatchObject({ code: "model_failed" });
  });

  it("calls the model in record mode; the later answer counts", async () => {
    await batchesOf(recorded(scriptedModel([{ text: "Old." }]), file), requestOf("Hello"));
    await batchesOf(
      recorded(scriptedModel([{ text: "New." }]), file, { mode: "record" }),
      requestOf("Hello"),
    );
    const [said] = await batchesOf(recorded(undefined, file), requestOf("Hello"));
    expect(said).toEqual([{ type: "text", text: "New." }]);
  });

  it.each<[string, ScriptedStep]>([
    ["that fails", { text: "I ha", error: "model_overloaded" }],
    ["that breaks off", { text: "I ha", finish: "none" }],
  ])("does not record an answer %s", async (_what, broken) => {
    const model = recorded(scriptedModel([broken, { text: "Whole." }]), file);
    await batchesOf(model, requestOf("Hello")).catch(() => undefined);
    const [said] = await batchesOf(model, requestOf("Hello"));
    expect(said).toEqual([{ type: "text", text: "Whole." }]);
    expect(await readFile(file, "utf8")).not.toContain('I ha"');
  });

  it("reports on a miss where the nearest recorded request differs, and is not retried", async () => {
    const model = recorded(scriptedModel([{ text: "A." }, { text: "B." }]), file);
    await batchesOf(model, requestOf("Something else"));
    await batchesOf(model, requestOf(`Book a flight for ${"x".repeat(300)} on Monday, please`));
    const miss = await missOf(requestOf(`Book a flight for ${"x".repeat(300)} on Tuesday, please`));
    expect(miss).toMatchObject({ code: "model_failed", retryable: false });
    expect(miss.message).toContain(
      'history[0].content: recorded "…xxxxxxxxxxxxxxxx on Monday, please", requested "…xxxxxxxxxxxxxxxx on Tuesday, please"',
    );
  });

  it("reports on a miss that the file is empty or missing", async () => {
    expect((await missOf(requestOf("Hello"))).message).toContain("the file has no answers");
  });

  it("names a line that is not a recording", async () => {
    const broken = join(folder, "broken.jsonl");
    await writeFile(broken, '{"request":{},"answer":[]}\n{"request":{"instr');
    await expect(batchesOf(recorded(undefined, broken), requestOf("Hello"))).rejects.toThrow(
      `${broken}:2 is not a recorded answer`,
    );
  });

  it("replays a whole run without its provider, and contains no key", async () => {
    const { body, end } = openAiChatEncoder.encode({
      calls: [{ id: "call_1", name: "clock", arguments: "{}" }],
    });
    const last = openAiChatEncoder.encode({ text: "It is noon." });
    const answers = [body + end, last.body + last.end];
    const online = compatible({
      baseURL: "https://acme.test/v1",
      model: "m",
      apiKey: "sk-secret-1234567890",
      fetch: async () => new Response(answers.shift() ?? null, { status: answers ? 200 : 500 }),
    });
    const resultOf = (model: Model) => {
      const clock = defineTool({
        name: "clock",
        description: "Time.",
        input: { type: "object" },
        execute: () => "12:00",
      });
      const agent = defineAgent({ name: "clerk", model, instructions: "Tell.", tools: [clock] });
      return run(agent, "What time is it?", { store: memory(), session: "s" });
    };
    const first = await resultOf(recorded(online, file));
    const second = await resultOf(recorded(undefined, file, { mode: "replay" }));
    expect(second).toMatchObject({ status: "done", text: "It is noon.", turns: 2 });
    expect(second.history).toEqual(first.history);
    expect(await readFile(file, "utf8")).not.toMatch(/sk-secret|acme\.test|authorization/i);
  });
});

describe("the first difference of two values", () => {
  it("is found exactly when they differ", () => {
    assert(
      property(jsonValue(), jsonValue(), (left, right) => {
        const [one, other] = [left, right].map((value) => JSON.parse(JSON.stringify(value)) as Json);
        if (one === undefined || other === undefined) return;
        expect(describeDifference(one, one)).toBe("nothing");
        expect(describeDifference(one, other) === "nothing").toBe(
          toCanonicalJson(one) === toCanonicalJson(other),
        );
      }),
    );
  });

  it("reports the path and both values", () => {
    expect(describeDifference({ a: [1, { b: true }] }, { a: [1, { b: null }] })).toBe(
      "a[1].b: recorded true, requested null",
    );
    expect(describeDifference({ a: [] }, { a: ["x"] })).toBe('a[0]: recorded nothing, requested "x"');
    expect(describeDifference([], {})).toBe("the root: recorded [], requested {}");
  });
});
