import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { defineAgent } from "../agent.ts";
import type { Event, Fact } from "../event.ts";
import { openai } from "../models/openai.ts";
import { run } from "../run/run.ts";
import type { Tool } from "../tool.ts";
import { hostedTools } from "./hosted-tools.ts";

const recordings = new URL("../../../../../shared/wire/vercel-ai/", import.meta.url);

/** Answers each request with a recording: a stream of chunks. Keeps the bodies of the requests. */
function serve(...files: readonly string[]) {
  const bodies: { readonly [field: string]: unknown }[] = [];
  const headers: Headers[] = [];
  const respond = async (_url: unknown, init?: RequestInit): Promise<Response> => {
    const file = files[bodies.length];
    bodies.push(JSON.parse(String(init?.body)));
    headers.push(new Headers(init?.headers));
    const lines = readFileSync(new URL(`${file}.chunks.txt`, recordings), "utf8").split("\n");
    const text = lines.filter((line) => line.trim() !== "").map((line) => `data: ${line}\n\n`);
    return new Response(text.join(""), { headers: { "content-type": "text/event-stream" } });
  };
  return { bodies, headers, fetch: respond as typeof fetch };
}

async function collect(model: ReturnType<typeof openai>, tools: readonly Tool[]) {
  const events: Event[] = [];
  const running = run(defineAgent({ name: "a", model, tools }), "What is new?");
  for await (const event of running) events.push(event);
  return { events, result: await running };
}

const listFacts = <Type extends Fact["type"]>(events: readonly Event[], type: Type) =>
  events.filter((event): event is Extract<Fact, { type: Type }> => event.type === type && "seq" in event);

describe.skipIf(!existsSync(recordings))("a run with hosted tools, on recorded traffic", () => {
  it("OpenAI: each search is a call with a result, counted and labeled, and its sources are citations", async () => {
    const { fetch, bodies } = serve("openai/responses/openai-web-search-tool.1");
    const model = openai({ model: "gpt-5-mini", apiKey: "k", fetch });
    const { events, result } = await collect(model, [
      hostedTools.webSearch({ userLocation: { country: "US" } }),
    ]);
    expect(bodies[0]).toMatchObject({
      tools: [{ type: "web_search", user_location: { type: "approximate", country: "US" } }],
      include: ["web_search_call.action.sources"],
    });
    const starts = listFacts(events, "tool_call_start");
    const results = listFacts(events, "tool_call_result");
    expect(starts.map(({ name, hosted, attempt }) => [name, hosted, attempt])).toEqual(
      Array(6).fill(["web_search", true, 1]),
    );
    expect(starts[0]?.arguments).toMatchObject({ type: "search" });
    expect(results.map(({ id }) => id)).toEqual(starts.map(({ id }) => id));
    for (const { status, hosted, reads } of results)
      expect([status, hosted, reads]).toEqual(["ok", true, ["untrusted"]]);
    expect(results[0]?.result).toMatch(/^https:\/\//);
    // The searches are shown while they run.
    const message = events.findIndex(({ type }) => type === "message");
    const live = events.findIndex((event) => event.type === "tool_call_delta" && event.id === starts[0]?.id);
    expect(live).toBeGreaterThan(-1);
    expect(live).toBeLessThan(message);
    expect(result.status).toBe("done");
    expect(result.grounded).toBe(true);
    expect(result.toolCalls.map(({ name }) => name)).toEqual(Array(6).fill("web_search"));
    expect(result.citations.length).toBeGreaterThan(3);
    expect(result.citations.map(({ n }) => n)).toEqual(result.citations.map((_, index) => index + 1));
    for (const { url, title } of result.citations)
      expect([url, title]).toEqual([expect.stringMatching(/^https?:/), expect.any(String)]);
    // The history has the provider's own items and no results.
    expect(result.history.map(({ type }) => type)).toEqual(["user", "assistant"]);
    expect(result.history[1]).toMatchObject({ provenance: "external" });
  });
});
