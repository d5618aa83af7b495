// A conversation of five searches with a tool that returns passages only, as each provider receives it.
import { describe, expect, it } from "vitest";
import { defineAgent, type Instructions } from "../../kernel/agent.ts";
import type { Model } from "../../kernel/model.ts";
import { standardInstructions } from "../../kernel/prompt.ts";
import { defineTool } from "../../kernel/tool.ts";
import { anthropic } from "../../models/anthropic.ts";
import { openai } from "../../models/openai.ts";
import { run } from "../../runtime/run.ts";
import { memory } from "../../stores/memory.ts";
import { fakeClock } from "../../testing/fake-clock.ts";
import {
  anthropicEncoder,
  type Encoder,
  openAiChatEncoder,
  openAiResponsesEncoder,
} from "../../testing/wire-encoders.ts";

const topics = ["tides", "locks", "mooring", "fuel", "weather"];

const search = defineTool({
  name: "search",
  description: "Searches the harbour's handbook",
  input: { query: { type: "string", required: true } },
  effects: "none",
  execute: ({ query }) => ({
    contexts: [1, 2, 3].map((part) => ({
      id: `${query}-${part}`,
      content: `Part ${part} on ${query}. `.repeat(40),
      source: { title: `The handbook on ${query}, ${part}` },
    })),
  }),
});

const wires: Readonly<Record<string, (client: { apiKey: string; fetch: typeof fetch }) => [Model, Encoder]>> =
  {
    Anthropic: (client) => [anthropic({ ...client, model: "claude-sonnet-4-5" }), anthropicEncoder],
    "OpenAI responses": (client) => [openai({ ...client, model: "gpt-4o" }), openAiResponsesEncoder],
    "OpenAI chat": (client) => [openai({ ...client, model: "gpt-4o", api: "chat" }), openAiChatEncoder],
  };

/** Returns the bodies of all requests, each in the order in which a provider caches it: tools, instructions, history. */
async function converse(wire: string, instructions: Instructions): Promise<readonly string[]> {
  const bodies: string[] = [];
  const answers: string[] = [];
  const [model, encoder] = (wires[wire] as (typeof wires)[string])({
    apiKey: "key",
    async fetch(_, init) {
      // The mark for the cache moves to the last message of each request.
      const body = JSON.parse(String(init?.body), (key, value) =>
        key === "cache_control" ? undefined : value,
      );
      const parts = [body.tools, body.system ?? body.instructions, body.messages ?? body.input];
      bodies.push(JSON.stringify(parts).replace(/\]+$/, ""));
      return new Response(answers.shift(), { headers: { "content-type": "text/event-stream" } });
    },
  });
  const agent = defineAgent({ name: "guide", model, instructions, tools: [search] });
  const store = memory();
  for (const [index, topic] of topics.entries()) {
    const cited = index * 3 + 1;
    const speeches = [
      { calls: [{ id: `call_${index}`, name: "search", arguments: JSON.stringify({ query: topic }) }] },
      { text: `The handbook says more on ${topic} [${cited}].` },
    ];
    for (const { body, end } of speeches.map((speech) => encoder.encode(speech))) answers.push(body + end);
    const options = { store, session: "s", clock: fakeClock() };
    const result = await run(agent, `Tell me about ${topic}`, options);
    expect(result.citations.map(({ n }) => n)).toEqual([cited]);
  }
  return bodies;
}

describe.each(Object.keys(wires))("on the %s wire", (wire) => {
  it.each([
    ["plain", "You know the harbour."],
    ["standard", standardInstructions("You know the harbour.")],
  ] as const)("no search changes what the provider has cached, with %s instructions", async (_, instructions) => {
    const bodies = await converse(wire, instructions);
    expect(bodies).toHaveLength(2 * topics.length);
    for (const [index, body] of bodies.slice(1).entries())
      expect(body.startsWith(bodies[index] ?? ""), `request ${index + 2}`).toBe(true);
    for (const topic of topics) expect(bodies.at(-1)).toContain(`Part 3 on ${topic}.`);
  });
});
