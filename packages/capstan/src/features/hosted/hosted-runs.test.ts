import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { defineAgent } from "../../kernel/agent.ts";
import type { Event, Fact } from "../../kernel/event.ts";
import type { Tool } from "../../kernel/tool.ts";
import { anthropic } from "../../models/anthropic.ts";
import { openai } from "../../models/openai.ts";
import { run } from "../../runtime/run.ts";
import { hostedTools } from "./hosted-tools.ts";

const recordings = new URL("../../../../../../shared/wire/vercel-ai/", import.meta.url);

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
      include: ["reasoning.encrypted_content", "web_search_call.action.sources"],
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

  it("Anthropic: a search is a call with a result, priced per search, and its sources are citations", async () => {
    const { fetch, bodies } = serve("anthropic/anthropic-web-search-tool.1");
    const model = anthropic({ model: "claude-sonnet-4-20250514", apiKey: "k", fetch });
    const options = { maxUses: 2, allowedDomains: ["apple.com"], userLocation: { city: "Oslo" } };
    const { events, result } = await collect(model, [hostedTools.webSearch(options)]);
    expect(bodies[0]?.tools).toEqual([
      {
        ...{ type: "web_search_20250305", name: "web_search", max_uses: 2, allowed_domains: ["apple.com"] },
        user_location: { type: "approximate", city: "Oslo" },
      },
    ]);
    const [start] = listFacts(events, "tool_call_start");
    const [found] = listFacts(events, "tool_call_result");
    expect(start).toMatchObject({
      ...{ id: "srvtoolu_01Bj5uzzLcYG5hfueSLcDH8k", name: "web_search", hosted: true },
      arguments: { query: "tech news today September 26 2025" },
    });
    expect(found).toMatchObject({ id: start?.id, status: "ok", reads: ["untrusted"], hosted: true });
    expect(found?.result).toContain("https://www.crescendo.ai/");
    expect(result.citations[0]).toMatchObject({ n: 1, url: expect.stringContaining("apple.com") });
    expect(new Set(result.citations.map(({ id }) => id)).size).toBe(result.citations.length);
    // 15,665 tokens in at 3 dollars per million, 795 out at 15, and one search at 10 dollars per thousand.
    expect(result.usage.webSearches).toBe(1);
    expect(result.cost).toBeCloseTo(0.046995 + 0.011925 + 0.01, 6);
  });

  it("Anthropic: pages, programs and MCP servers are calls too, and a failed one is an error", async () => {
    const facts: unknown[] = [];
    for (const [file, tool] of [
      ["anthropic-web-fetch-tool.1", hostedTools.webFetch()],
      ["anthropic-code-execution-20250825.2", hostedTools.codeExecution()],
      ["anthropic-mcp.1", hostedTools.mcp({ label: "echo", url: "https://echo.example", approval: "never" })],
    ] as const) {
      const { fetch, headers, bodies } = serve(`anthropic/${file}`);
      const model = anthropic({ model: "claude-sonnet-4-5", apiKey: "k", fetch });
      const { events, result } = await collect(model, [tool]);
      expect(result.status).toBe("done");
      for (const { name, status, reads } of listFacts(events, "tool_call_result"))
        facts.push([
          name,
          status,
          reads ?? [],
          headers[0]?.get("anthropic-beta"),
          Object.keys(bodies[0] ?? {}).includes("mcp_servers"),
        ]);
    }
    expect(facts).toEqual([
      ["web_fetch", "ok", ["untrusted"], null, false],
      ["code_execution", "ok", [], null, false],
      ["code_execution", "ok", [], null, false],
      ["code_execution", "ok", [], null, false],
      ["echo", "ok", ["untrusted", "private"], "mcp-client-2025-11-20", true],
    ]);
  });

  it("OpenAI: programs, files and MCP servers are calls too", async () => {
    const facts: unknown[] = [];
    for (const [file, tool] of [
      ["openai-code-interpreter-tool.1", hostedTools.codeExecution()],
      ["openai-file-search-tool.1", hostedTools.fileSearch({ stores: ["vs_1"], maxResults: 3 })],
      [
        "openai-mcp-tool.1",
        hostedTools.mcp({ label: "dmcp", url: "https://mcp.exa.ai/mcp", approval: "never" }),
      ],
    ] as const) {
      const { fetch, bodies } = serve(`openai/responses/${file}`);
      const { events, result } = await collect(openai({ model: "gpt-5-mini", apiKey: "k", fetch }), [tool]);
      expect(result.status).toBe("done");
      facts.push(bodies[0]?.tools);
      for (const { name, status, reads } of listFacts(events, "tool_call_result"))
        facts.push([name, status, reads ?? []]);
    }
    expect(facts).toMatchInlineSnapshot(`
      [
        [
          {
            "container": {
              "type": "auto",
            },
            "type": "code_interpreter",
          },
        ],
        [
          "code_execution",
          "ok",
          [],
        ],
        [
          "code_execution",
          "ok",
          [],
        ],
        [
          "code_execution",
          "ok",
          [],
        ],
        [
          {
            "max_num_results": 3,
            "type": "file_search",
            "vector_store_ids": [
              "vs_1",
            ],
          },
        ],
        [
          "file_search",
          "ok",
          [
            "private",
          ],
        ],
        [
          {
            "require_approval": "never",
            "server_label": "dmcp",
            "server_url": "https://mcp.exa.ai/mcp",
            "type": "mcp",
          },
        ],
        [
          "web_search_exa",
          "ok",
          [
            "untrusted",
            "private",
          ],
        ],
        [
          "web_search_exa",
          "ok",
          [
            "untrusted",
            "private",
          ],
        ],
      ]
    `);
  });

  it("OpenAI: a call of an MCP server waits for the user's approval, and the answer goes back", async () => {
    const { fetch, bodies } = serve(
      "openai/responses/openai-mcp-tool-approval.1",
      "openai/responses/openai-mcp-tool-approval.2",
    );
    const model = openai({ model: "gpt-5-mini", apiKey: "k", fetch });
    const tool = hostedTools.mcp({ label: "zip1", url: "https://zip1.io/mcp" });
    const waiting = run(defineAgent({ name: "a", model, tools: [tool] }), "Shorten this");
    const { status, pending } = await waiting;
    expect(status).toBe("waiting");
    expect(pending).toMatchObject([
      {
        name: "mcp_zip1",
        input: { tool: "create_short_url" },
        reason: expect.stringContaining("create_short_url"),
      },
    ]);
    expect(bodies[0]?.tools).toMatchObject([
      { type: "mcp", require_approval: "always", server_label: "zip1" },
    ]);
    const [call] = pending;
    const done = await waiting.deny(call?.callId ?? "", "Not this one");
    const input = bodies[1]?.input as { readonly type: string }[];
    expect(input.slice(-2)).toMatchObject([
      { type: "mcp_approval_request", id: call?.callId, server_label: "zip1" },
      { type: "mcp_approval_response", approval_request_id: call?.callId, approve: false },
    ]);
    expect(done.status).toBe("done");
  });
});
