import { describe, expect, it } from "vitest";
import { buildView } from "../../client/reduce.ts";
import { defineAgent } from "../../kernel/agent.ts";
import type { Event } from "../../kernel/event.ts";
import type { Entry } from "../../kernel/history.ts";
import type { HostedCall, HostedToolSpec } from "../../kernel/hosted-tool.ts";
import type { ModelRequest } from "../../kernel/model.ts";
import type { PolicyOverrides } from "../../kernel/policy.ts";
import { defineTool, type Tool } from "../../kernel/tool.ts";
import { anthropic } from "../../models/anthropic.ts";
import { anthropicMessages } from "../../models/anthropic-messages.ts";
import { fromGenerate } from "../../models/from-generate.ts";
import { geminiContent } from "../../models/gemini-content.ts";
import { openAiResponses } from "../../models/openai-responses.ts";
import { run } from "../../runtime/run.ts";
import { type Script, scriptedModel } from "../../testing/scripted-model.ts";
import { toActions } from "./computer.ts";
import { hostedTools } from "./hosted-tools.ts";

const search: HostedCall = {
  ...{ id: "ws_1", kind: "webSearch", input: { query: "oslo" } },
  outcome: { isError: false, text: "https://oslo.example" },
};
const readNotes = defineTool({
  name: "notes",
  description: "Reads notes",
  input: { type: "object" },
  effects: "none",
  execute: () => "the notes",
});
const sendMail = defineTool({
  name: "send_mail",
  description: "Sends mail",
  input: { type: "object" },
  effects: "send",
  reads: [],
  execute: () => "sent",
});

async function collect(script: Script, tools: readonly Tool[], policy: PolicyOverrides = {}) {
  const model = scriptedModel(script);
  const events: Event[] = [];
  const running = run(defineAgent({ name: "a", model, tools, policy }), "Go");
  for await (const event of running) events.push(event);
  return { model, events, result: await running };
}

const createPage = (options: Parameters<typeof hostedTools.computer>[0]["execute"]) =>
  hostedTools.computer({ displayWidth: 800, displayHeight: 600, execute: options });

describe("the definition of an agent with hosted tools", () => {
  it.each([
    [
      "openai/gpt-5",
      hostedTools.webFetch(),
      'The hosted tool "web_fetch" is not available with openai/gpt-5. APIs that have it: anthropic, gemini.',
    ],
    [
      "anthropic/claude-sonnet-4-6",
      hostedTools.imageGeneration(),
      '"image_generation" is not available with anthropic/',
    ],
    ["groq/llama", hostedTools.webSearch(), '"web_search" is not available with groq/llama'],
    [
      "anthropic/claude-opus-5-5",
      hostedTools.computer({ displayWidth: 800, displayHeight: 600, execute: () => "" }),
      "use an earlier model",
    ],
    ["bedrock/anthropic.claude-sonnet-4-6", hostedTools.webSearch(), "is not available with bedrock/"],
    [
      "gemini/gemini-3-pro",
      hostedTools.webSearch({ allowedDomains: ["a.org"] }),
      "has no allowedDomains with gemini/",
    ],
    ["openai/gpt-5", hostedTools.webSearch({ maxUses: 2 }), "has no maxUses with openai/gpt-5"],
    [
      "anthropic/claude-sonnet-4-6",
      hostedTools.mcp({ label: "docs", url: "https://d" }),
      'set `approval: "never"` to accept that',
    ],
    [fromGenerate(() => ({ text: "" })), hostedTools.webSearch(), "is not available with generate"],
    [
      anthropic({ model: "claude-sonnet-4-6", apiKey: "k" }),
      hostedTools.fileSearch({ stores: ["s"] }),
      "is not available with anthropic/",
    ],
    [
      "vertex/claude-sonnet-4-6",
      hostedTools.codeExecution(),
      "is not available with vertex/claude-sonnet-4-6",
    ],
  ])("is rejected if the model lacks a kind or an option (%#)", (model, tool, message) => {
    const define = () => defineAgent({ name: "a", model, tools: [tool] });
    expect(define).toThrow(expect.objectContaining({ code: "invalid_definition" }));
    expect(define).toThrow(message);
  });

  it("is rejected if the provider does not combine hosted tools with others", () => {
    const tools = [hostedTools.webSearch(), readNotes];
    expect(() => defineAgent({ name: "a", model: "gemini/gemini-2.5-flash", tools })).toThrow(
      "does not combine",
    );
    expect(() => defineAgent({ name: "a", model: "gemini/gemini-3-pro", tools })).not.toThrow();
    expect(() => defineAgent({ name: "a", model: "openai/gpt-5", tools })).not.toThrow();
  });

  it.each([
    [
      () => hostedTools.webSearch({ domains: [] } as object),
      'Unknown field "domains" of the hosted tool web_search',
    ],
    [() => hostedTools.webSearch({ maxUses: 0 }), "maxUses of the hosted tool web_search"],
    [() => hostedTools.mcp({ label: "a b", url: "https://x" }), "label of the hosted tool mcp"],
    [() => hostedTools.fileSearch({} as { stores: [] }), "needs the option `stores`"],
  ])("rejects invalid options (%#)", (create, message) => {
    expect(create).toThrow(message);
  });

  it("fails a run whose tools of a turn the model does not have, and calls nothing", async () => {
    const model = fromGenerate(() => ({ text: "never" }));
    const result = await run(defineAgent({ name: "a", model, tools: () => [hostedTools.webSearch()] }), "Go");
    expect(result.error).toMatchObject({
      code: "settings_failed",
      message: expect.stringContaining("web_search"),
    });
  });
});

describe("a hosted call", () => {
  it("is offered to the model apart from the other tools, and cannot be called as a function", async () => {
    const script = [{ calls: [{ name: "web_search", input: {} }] }, { text: "Done" }];
    const { model, result } = await collect(script, [hostedTools.webSearch({ maxUses: 3 }), readNotes]);
    expect(model.requests[0]?.tools.map(({ name }) => name)).toEqual(["notes"]);
    expect(model.requests[0]?.hosted).toEqual([
      { kind: "webSearch", name: "web_search", options: { maxUses: 3 } },
    ]);
    expect(result.toolCalls[0]).toMatchObject({ name: "web_search", status: "error" });
    expect(result.status).toBe("done");
  });

  it("is counted against the budget: a call beyond it is not made", async () => {
    const hosted = [search, { ...search, id: "ws_2" }];
    const script = [{ hosted, calls: [{ name: "notes", input: {} }] }, { text: "Summary" }];
    const { result } = await collect(script, [hostedTools.webSearch(), readNotes], {
      budget: { toolCalls: 2 },
    });
    expect(result.toolCalls.map(({ name, status }) => [name, status])).toEqual([
      ["web_search", "ok"],
      ["web_search", "ok"],
      ["notes", "skipped"],
    ]);
  });

  it("is shown with its message, and numbers its sources without changing the text", async () => {
    const citations = [
      { id: "https://a.example", title: "A", url: "https://a.example" },
      { id: "https://b.example", title: "B", url: "https://b.example" },
    ];
    const script = [{ hosted: [search], text: "It rains [9] in list[1].", citations }];
    const { events, result } = await collect(script, [hostedTools.webSearch()]);
    expect(result.text).toBe("It rains [9] in list[1].");
    expect(result.citations).toEqual(citations.map((source, index) => ({ n: index + 1, ...source })));
    const view = buildView(events);
    expect(view.entries.filter(({ type }) => type === "assistant")).toMatchObject([
      {
        text: result.text,
        calls: [{ name: "web_search", state: "ok", hosted: true }],
        citations: result.citations,
      },
    ]);
    expect(buildView(events.filter((event) => "seq" in event))).toEqual(view);
  });

  it("keeps the numbers of its sources in the session, apart from those of other tools", async () => {
    const find = defineTool({
      ...{ name: "find", description: "Finds", input: { type: "object" }, effects: "none", reads: [] },
      execute: () => ({ contexts: [{ id: "doc", content: "text", source: { title: "Doc" } }] }),
    });
    const cited = [{ id: "https://a.example", title: "A" }];
    const script = [
      { hosted: [search], text: "Looking", citations: cited, calls: [{ name: "find", input: {} }] },
      { text: "See [2]." },
      { text: "Again", citations: cited },
    ];
    const { events } = await collect(script, [hostedTools.webSearch(), find]);
    const messages = events.filter((event) => event.type === "message");
    expect(messages.map(({ citations }) => citations?.map(({ n, id }) => [n, id]))).toEqual([
      [[1, "https://a.example"]],
      [[2, "doc"]],
    ]);
  });

  it("that a pause divides starts before it and ends after it", async () => {
    const script = [
      {
        hosted: [{ ...search, outcome: undefined } as unknown as HostedCall],
        text: "Searching. ",
        finish: "pause" as const,
      },
      {
        hosted: [{ id: "ws_1", kind: "webSearch" as const, outcome: search.outcome as never }],
        text: "Found.",
      },
    ];
    const { events, result } = await collect(script, [hostedTools.webSearch()]);
    const order = events.filter((event) => "seq" in event).map(({ type }) => type);
    expect(order).toEqual([
      ...["run_start", "turn_start", "message_partial", "tool_call_start", "message", "tool_call_result"],
      ...["turn_end", "done"],
    ]);
    expect(result.toolCalls).toMatchObject([{ name: "web_search", input: { query: "oslo" }, status: "ok" }]);
    expect(result.text).toBe("Searching. Found.");
  });

  it("without a result is interrupted when its message ends", async () => {
    const script = [{ hosted: [{ id: "ws_1", kind: "webSearch" as const }], text: "Hi" }];
    const { result } = await collect(script, [hostedTools.webSearch()]);
    expect(result.toolCalls).toMatchObject([{ status: "interrupted" }]);
  });
});

describe("the gate and hosted tools", () => {
  const tools = [hostedTools.webSearch(), readNotes, sendMail, hostedTools.codeExecution()];
  const readAfterSearch = [{ hosted: [search], calls: [{ name: "notes", input: {} }] }, { text: "Done" }];

  it("withdraws tools that send data out once untrusted text and private data are in the conversation (A100)", async () => {
    const { model, events } = await collect(readAfterSearch, tools);
    expect(model.requests.map(({ hosted }) => hosted?.map(({ name }) => name))).toEqual([
      ["web_search", "code_execution"],
      ["code_execution"],
    ]);
    expect(events.filter((event) => event.type === "warning")).toMatchObject([
      { code: "hosted_tool_withdrawn", message: expect.stringContaining("web_search") },
    ]);
  });

  it("keeps them with the gate off, and withdraws them earlier with a strict gate", async () => {
    const { model } = await collect(readAfterSearch, tools, { gate: "off" });
    expect(model.requests[1]?.hosted).toHaveLength(2);
    const onlyPrivate = [{ calls: [{ name: "notes", input: {} }] }, { text: "Done" }];
    const strict = await collect(onlyPrivate, tools, { gate: "strict" });
    expect(strict.model.requests.map(({ hosted }) => hosted?.length)).toEqual([2, 1]);
    const byDefault = await collect(onlyPrivate, tools);
    expect(byDefault.model.requests[1]?.hosted).toHaveLength(2);
  });

  it("asks before a call in the same message as a search, if private data was read before (A100, A101)", async () => {
    const script = [
      { calls: [{ name: "notes", input: {} }] },
      { hosted: [search], calls: [{ name: "send_mail", input: {} }] },
    ];
    const { result } = await collect(script, tools);
    expect(result.status).toBe("waiting");
    expect(result.pending).toMatchObject([
      {
        name: "send_mail",
        because: expect.arrayContaining([expect.objectContaining({ tool: "web_search" })]),
      },
    ]);
  });

  it("counts the tool descriptions of a hosted MCP server as untrusted (A49)", async () => {
    const mcp = hostedTools.mcp({ label: "docs", url: "https://d", approval: "never" });
    const script = [{ calls: [{ name: "notes", input: {} }] }, { calls: [{ name: "send_mail", input: {} }] }];
    const { result } = await collect(script, [mcp, readNotes, sendMail]);
    expect(result.pending).toMatchObject([{ name: "send_mail" }]);
  });
});

it("the token of an MCP server reaches the provider, and no record of the request", () => {
  const options = { label: "docs", url: "https://d", approval: "never", token: "sk-secret" } as const;
  const { hosted, name } = hostedTools.mcp(options);
  const request = { instructions: "", history: [], tools: [], toolChoice: "auto", thinking: false } as const;
  const requests = { ...request, hosted: [{ ...hosted, name } as HostedToolSpec] };
  expect(JSON.stringify(requests)).not.toContain("sk-secret");
  expect(openAiResponses.toRequest(requests, { model: "gpt-5", stream: true })).toContain(
    '"authorization":"sk-secret"',
  );
  expect(anthropicMessages.toRequest(requests, { model: "claude-opus-4-6", stream: true })).toContain(
    "sk-secret",
  );
});

describe("a computer", () => {
  const request = (hosted: readonly HostedToolSpec[]): ModelRequest => ({
    ...{ instructions: "", history: [], tools: [], toolChoice: "auto", thinking: false, hosted },
  });
  const spec: HostedToolSpec = {
    ...{ kind: "computer", name: "computer", options: { displayWidth: 800, displayHeight: 600 } },
  };
  const body = (text: string) => JSON.parse(text) as { tools: unknown[] };

  it("is defined as each provider wants it", () => {
    const settings = { model: "claude-opus-4-6", stream: true };
    expect(body(anthropicMessages.toRequest(request([spec]), settings)).tools).toEqual([
      { type: "computer_20251124", name: "computer", display_width_px: 800, display_height_px: 600 },
    ]);
    expect(anthropicMessages.buildHeaders?.(request([spec]), "claude-opus-4-6", "{}")).toEqual({
      "anthropic-beta": "computer-use-2025-11-24",
    });
    expect(
      body(openAiResponses.toRequest(request([spec]), { model: "gpt-5.4", stream: true })).tools,
    ).toEqual([{ type: "computer" }]);
    const preview = { model: "computer-use-preview", stream: true };
    expect(body(openAiResponses.toRequest(request([spec]), preview)).tools).toEqual([
      { type: "computer_use_preview", display_width: 800, display_height: 600, environment: "browser" },
    ]);
  });

  it.each([
    [
      { action: "left_click", coordinate: [3, 4] },
      { type: "click", x: 3, y: 4, button: "left", count: 1 },
    ],
    [
      { actions: [{ type: "click", x: 3, y: 4, button: "right" }] },
      { type: "click", x: 3, y: 4, button: "right", count: 1 },
    ],
    [
      { action: { type: "double_click", x: 1, y: 2 } },
      { type: "click", x: 1, y: 2, button: "left", count: 2 },
    ],
    [
      { action: "scroll", coordinate: [1, 2], scroll_direction: "down", scroll_amount: 3 },
      { type: "scroll", x: 1, y: 2, scrollX: 0, scrollY: 300 },
    ],
    [
      { action: "key", text: "ctrl+s" },
      { type: "keypress", keys: ["ctrl", "s"] },
    ],
    [{ actions: [{ type: "keypress", keys: ["CTRL", "S"] }] }, { type: "keypress", keys: ["CTRL", "S"] }],
    [
      { action: "zoom", region: [0, 0, 1, 1] },
      { type: "other", input: { action: "zoom", region: [0, 0, 1, 1] } },
    ],
  ])("gets the same actions from every provider (%#)", (input, action) => {
    expect(toActions(input)).toEqual([action]);
  });

  it("performs the actions of an OpenAI call and sends the screenshot back, with the approved warnings", async () => {
    const item = {
      ...{ type: "computer_call", id: "cu_1", call_id: "call_1", status: "completed" },
      actions: [{ type: "click", x: 1, y: 2, button: "left" }, { type: "screenshot" }],
      pending_safety_checks: [{ id: "sc_1", code: "malicious_instructions", message: "Check this page." }],
    };
    const usage = { input_tokens: 1, output_tokens: 1 };
    const answers = [
      { status: "completed", output: [item], usage },
      {
        status: "completed",
        output: [{ type: "message", content: [{ type: "output_text", text: "Done" }] }],
        usage,
      },
    ];
    const bodies: { input: unknown[] }[] = [];
    const respond = async (_url: unknown, init?: RequestInit) =>
      Response.json(answers[bodies.push(JSON.parse(String(init?.body))) - 1]);
    const { openai } = await import("../../models/openai.ts");
    const model = openai({ model: "gpt-5.4", apiKey: "k", stream: false, fetch: respond as typeof fetch });
    const actions: unknown[] = [];
    const computer = createPage((action) => {
      actions.push(action.type);
      return { content: [{ type: "image", mediaType: "image/png", data: "aGk=" }] };
    });
    const waiting = run(defineAgent({ name: "a", model, tools: [computer] }), "Click");
    const { pending } = await waiting;
    expect(pending).toMatchObject([{ name: "computer", reason: "The provider warns: Check this page." }]);
    expect(actions).toEqual([]);
    const result = await waiting.approve("call_1");
    expect(actions).toEqual(["click", "screenshot"]);
    expect(bodies[1]?.input.slice(-2)).toEqual([
      item,
      {
        ...{ type: "computer_call_output", call_id: "call_1" },
        output: { type: "computer_screenshot", image_url: "data:image/png;base64,aGk=" },
        acknowledged_safety_checks: item.pending_safety_checks,
      },
    ]);
    expect(result.text).toBe("Done");
  });
});

describe("Gemini", () => {
  const grounded = {
    candidates: [
      {
        content: {
          parts: [
            { executableCode: { code: "print(1)", language: "PYTHON" } },
            { codeExecutionResult: { outcome: "OUTCOME_OK", output: "1\n" } },
            { text: "It rains." },
          ],
        },
        groundingMetadata: {
          webSearchQueries: ["oslo weather", "oslo rain"],
          groundingChunks: [
            { web: { uri: "https://a.example", title: "A" } },
            { web: { uri: "https://b.example" } },
          ],
          groundingSupports: [{ segment: { text: "It rains." }, groundingChunkIndices: [1] }],
        },
        urlContextMetadata: {
          urlMetadata: [
            { retrievedUrl: "https://c.example", urlRetrievalStatus: "URL_RETRIEVAL_STATUS_ERROR" },
          ],
        },
        finishReason: "STOP",
      },
    ],
    usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1 },
  };

  it("searches, pages and programs are calls, and the sources of the text are citations", async () => {
    const { gemini } = await import("../../models/gemini.ts");
    const respond = async () => Response.json(grounded);
    const model = gemini({
      model: "gemini-2.5-flash",
      apiKey: "k",
      stream: false,
      fetch: respond as typeof fetch,
    });
    const tools = [hostedTools.webSearch(), hostedTools.webFetch(), hostedTools.codeExecution()];
    const result = await run(defineAgent({ name: "a", model, tools }), "Weather?");
    expect(
      result.toolCalls.map(({ name, input, status, result: text }) => [name, input, status, text]),
    ).toEqual([
      ["code_execution", { code: "print(1)" }, "ok", "1\n"],
      [
        "web_search",
        { queries: ["oslo weather", "oslo rain"] },
        "ok",
        "A https://a.example\nhttps://b.example https://b.example",
      ],
      ["web_fetch", { urls: ["https://c.example"] }, "error", "https://c.example URL_RETRIEVAL_STATUS_ERROR"],
    ]);
    expect(result.citations).toEqual([
      { n: 1, id: "https://b.example", title: "https://b.example", url: "https://b.example" },
    ]);
    expect(result.usage.webSearches).toBe(2);
  });

  it("gets its own definitions, and beside functions the flag that combines them", () => {
    const hosted: HostedToolSpec[] = [
      { kind: "webSearch", name: "web_search", options: {} },
      { kind: "fileSearch", name: "file_search", options: { stores: ["fileSearchStores/a"], maxResults: 2 } },
    ];
    const base = { instructions: "", history: [], toolChoice: "auto", thinking: false, hosted } as const;
    const settings = { model: "gemini-3-pro", stream: true };
    expect(JSON.parse(geminiContent.toRequest({ ...base, tools: [] }, settings))).toMatchObject({
      tools: [
        { googleSearch: {} },
        { fileSearch: { fileSearchStoreNames: ["fileSearchStores/a"], topK: 2 } },
      ],
    });
    const tools = [{ name: "notes", description: "", input: { type: "object" } }];
    expect(JSON.parse(geminiContent.toRequest({ ...base, tools }, settings)).toolConfig).toMatchObject({
      includeServerSideToolInvocations: true,
    });
  });
});

describe("chat completions", () => {
  it("search with a search model, and the annotations of its answer are citations", async () => {
    const { openai } = await import("../../models/openai.ts");
    const bodies: unknown[] = [];
    const citation = { url: "https://a.example", title: "A" };
    const message = { content: "It rains.", annotations: [{ type: "url_citation", url_citation: citation }] };
    const answer = {
      choices: [{ message, finish_reason: "stop" }],
      usage: { prompt_tokens: 1, completion_tokens: 1 },
    };
    const respond = async (_url: unknown, init?: RequestInit) => {
      bodies.push(JSON.parse(String(init?.body)));
      return Response.json(answer);
    };
    const options = { api: "chat", apiKey: "k", stream: false, fetch: respond as typeof fetch } as const;
    const model = openai({ model: "gpt-5-search-api", ...options });
    const tools = [hostedTools.webSearch({ userLocation: { city: "Oslo" } })];
    const result = await run(defineAgent({ name: "a", model, tools }), "Weather?");
    expect(bodies).toMatchObject([
      { web_search_options: { user_location: { type: "approximate", approximate: { city: "Oslo" } } } },
    ]);
    expect(result.citations).toEqual([{ n: 1, id: "https://a.example", ...citation }]);
    const other = openai({ model: "gpt-5", ...options });
    expect(() => defineAgent({ name: "a", model: other, tools })).toThrow("needs a search model");
  });
});

describe("a container of Anthropic's code execution", () => {
  const container = { id: "container_1", expires_at: "2026-11-16T12:00:00Z" };
  const history: Entry[] = [
    { type: "user", content: "Compute" },
    {
      type: "assistant",
      parts: [
        { type: "text", text: "1" },
        { type: "opaque", data: { wire: "anthropic", data: { container } } },
      ],
    },
    { type: "user", content: "And now?" },
  ];
  const hosted: HostedToolSpec[] = [{ kind: "codeExecution", name: "code_execution", options: {} }];

  it.each([
    ["2026-11-16T11:50:00Z", hosted, "container_1"],
    ["2026-11-16T11:59:30Z", hosted, undefined],
    ["2026-11-16T13:00:00Z", hosted, undefined],
    ["2026-11-16T11:50:00Z", [{ kind: "webSearch", name: "web_search", options: {} } as const], undefined],
  ])("is used again in later turns while it lives (%s, %#)", (time, tools, expected) => {
    const request = {
      instructions: "",
      history,
      tools: [],
      toolChoice: "auto",
      thinking: false,
      hosted: tools,
    } as const;
    const settings = { model: "claude-opus-4-6", stream: true, now: Date.parse(time) };
    expect(JSON.parse(anthropicMessages.toRequest(request, settings)).container).toBe(expected);
  });
});
