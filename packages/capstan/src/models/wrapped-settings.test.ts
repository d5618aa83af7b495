import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { defineAgent } from "../kernel/agent.ts";
import type { Model } from "../kernel/model.ts";
import type { ModelSettings } from "../kernel/settings/settings.ts";
import { defineTool } from "../kernel/tool.ts";
import { run } from "../runtime/run.ts";
import { memory } from "../stores/memory.ts";
import { scriptedModel } from "../testing/scripted-model.ts";
import { fallback } from "./fallback.ts";
import { fromGenerate } from "./from-generate.ts";
import { openai } from "./openai.ts";
import { withRateLimit } from "./rate-limit.ts";
import { recorded } from "./recorded.ts";
import { textDialect } from "./text-dialect.ts";

const wrappers: readonly [string, (model: Model, file: string) => Model][] = [
  ["textDialect", (model) => textDialect(model)],
  ["fallback", (model) => fallback([model])],
  ["withRateLimit", (model) => withRateLimit(model, { store: memory(), requests: { minute: 9 } })],
  ["recorded", (model, file) => recorded(model, file)],
];

const look = defineTool({
  name: "look",
  description: "Looks",
  input: { type: "object", properties: {} },
  effects: "none",
  execute: () => "seen",
});

it.each(
  wrappers,
)("%s passes the settings on, and reports what its model cannot follow", async (_name, wrap) => {
  const folder = await mkdtemp(join(tmpdir(), "settings-"));
  try {
    const model = scriptedModel([{ text: "Hi" }]);
    const settings: ModelSettings = { effort: "low", temperature: 0.5, extra: { a: 1 } };
    await run(defineAgent({ name: "a", model: wrap(model, join(folder, "a.jsonl")), settings }), "Hello");
    expect(model.requests[0]?.settings).toEqual(settings);

    const client = wrap(openai({ model: "gpt-5-mini", apiKey: "k" }), join(folder, "b.jsonl"));
    expect(client.checkSettings?.({ seed: 1, stop: "x" }).map(({ field }) => field)).toEqual([
      "stop",
      "seed",
    ]);
  } finally {
    await rm(folder, { recursive: true });
  }
});

it("recorded does not answer a request with other settings", async () => {
  const folder = await mkdtemp(join(tmpdir(), "settings-"));
  try {
    const model = scriptedModel([{ text: "Low" }, { text: "High" }]);
    const agent = defineAgent({ name: "a", model: recorded(model, join(folder, "a.jsonl")) });
    const ask = async (effort: "low" | "high") => (await run(agent, "Hello", { settings: { effort } })).text;
    expect([await ask("low"), await ask("high"), await ask("low")]).toEqual(["Low", "High", "Low"]);
  } finally {
    await rm(folder, { recursive: true });
  }
});

it("textDialect asks for one call at a time in words, whatever its model supports", async () => {
  const model = scriptedModel([{ text: "Hi" }]);
  const checked: ModelSettings[] = [];
  const checkSettings = (settings: ModelSettings) => {
    checked.push(settings);
    return [];
  };
  const dialect = textDialect({ ...model, checkSettings });
  const settings: ModelSettings = { parallelToolCalls: false, toolChoice: { tool: "look" }, seed: 1 };
  await run(defineAgent({ name: "a", model: dialect, tools: [look], settings }), "Hello");
  expect(model.requests[0]?.instructions).toContain("Write one call at a time.");
  expect(model.requests[0]?.instructions).toContain("You must call look in this response");
  expect(checked[0]).toEqual({ seed: 1 });
});

it("a generate function receives the settings and the tool choice", async () => {
  const received: unknown[] = [];
  const model = fromGenerate((_messages, _tools, _instructions, { signal: _signal, ...options }) => {
    received.push(options);
    return { text: "Hi" };
  });
  const settings: ModelSettings = { temperature: 0.5, toolChoice: "required" };
  await run(defineAgent({ name: "a", model, tools: [look], settings }), "Hello");
  expect(received).toEqual([{ toolChoice: "required", settings: { temperature: 0.5 } }]);
});
