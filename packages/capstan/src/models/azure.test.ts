import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import OpenAI, { AzureOpenAI } from "openai";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { Entry } from "../kernel/history.ts";
import {
  type CloudRequest,
  joinText,
  readChunks,
  shortRequest,
  startCloud,
} from "../testing/cloud-server.ts";
import { modelSuite } from "../testing/model-suite.ts";
import { openAiChatEncoder, openAiResponsesEncoder } from "../testing/wire-encoders.ts";
import { type AzureOptions, azure } from "./azure.ts";
import { openai } from "./openai.ts";

const apiKey = "azure-key-1234567890";

modelSuite("azure (v1, responses)", openAiResponsesEncoder, (baseURL) =>
  azure({ model: "gpt-test", apiKey, baseURL }),
);
modelSuite("azure (deployment, token)", openAiChatEncoder, (baseURL) =>
  azure({ model: "gpt-test", baseURL, apiVersion: "2024-10-21", token: async () => "entra-token" }),
);

const variables = [
  "AZURE_OPENAI_API_KEY",
  "AZURE_OPENAI_ENDPOINT",
  "AZURE_RESOURCE_NAME",
  "OPENAI_API_VERSION",
];
const chatJson = { choices: [{ index: 0, message: { content: "ok" }, finish_reason: "stop" }] };
const responseJson = {
  status: "completed",
  output: [{ type: "message", role: "assistant", content: [{ type: "output_text", text: "ok" }] }],
};
const answer = ({ url }: { url: string }) => ({
  headers: { "content-type": "application/json" },
  body: JSON.stringify(url.includes("/responses") ? responseJson : chatJson),
});

/** Returns the first request of a client whose `fetch` is replaced. */
async function capture(
  options: Omit<AzureOptions, "model">,
): Promise<{ url: string; headers: Headers; body: string }> {
  const sent: { url: string; headers: Headers; body: string }[] = [];
  const model = azure({
    model: "gpt-5-mini",
    stream: false,
    fetch: async (url, init) => {
      sent.push({ url: String(url), headers: new Headers(init?.headers), body: String(init?.body) });
      return new Response(answer({ url: String(url) }).body);
    },
    ...options,
  });
  expect(joinText(await readChunks(model))).toBe("ok");
  return sent[0] as (typeof sent)[0];
}

afterEach(() => vi.unstubAllEnvs());

describe("a request to Azure", () => {
  it.each([
    ["the v1 Responses API by default", {}, "/openai/v1/responses"],
    ["the v1 chat API", { api: "chat" }, "/openai/v1/chat/completions"],
    ["a preview of the v1 API", { apiVersion: "preview" }, "/openai/v1/responses?api-version=preview"],
    [
      "the URL of the deployment for a dated version",
      { apiVersion: "2024-10-21" },
      "/openai/deployments/gpt-5-mini/chat/completions?api-version=2024-10-21",
    ],
    [
      "the Responses API of a dated version",
      { apiVersion: "2025-04-01-preview", api: "responses" },
      "/openai/responses?api-version=2025-04-01-preview",
    ],
  ] as const)("goes to %s", async (_name, options, path) => {
    const { url, headers } = await capture({ resource: "my-team", apiKey, ...options });
    expect(url).toBe(`https://my-team.openai.azure.com${path}`);
    expect(headers.get("api-key")).toBe(apiKey);
    expect(headers.has("authorization")).toBe(false);
  });

  it("reads its endpoint, key and version from the environment", async () => {
    vi.stubEnv("AZURE_OPENAI_API_KEY", "key-from-env");
    vi.stubEnv("AZURE_RESOURCE_NAME", "by-name");
    vi.stubEnv("AZURE_OPENAI_ENDPOINT", "");
    vi.stubEnv("OPENAI_API_VERSION", "");
    expect((await capture({})).url).toBe("https://by-name.openai.azure.com/openai/v1/responses");
    vi.stubEnv("AZURE_OPENAI_ENDPOINT", "https://by-endpoint.services.ai.azure.com/openai/v1/");
    vi.stubEnv("OPENAI_API_VERSION", "2024-10-21");
    const { url, headers } = await capture({});
    expect(url).toMatch(
      /^https:\/\/by-endpoint\.services\.ai\.azure\.com\/openai\/deployments\/gpt-5-mini\//,
    );
    expect(headers.get("api-key")).toBe("key-from-env");
  });

  it("without an endpoint or a key names the variables to set", async () => {
    for (const name of variables) vi.stubEnv(name, "");
    const call = (options: object) => readChunks(azure({ model: "m", ...options }));
    await expect(call({ apiKey })).rejects.toMatchObject({
      code: "model_auth",
      message: expect.stringContaining("AZURE_OPENAI_ENDPOINT"),
    });
    await expect(call({ resource: "r" })).rejects.toMatchObject({
      code: "model_auth",
      message: expect.stringContaining("AZURE_OPENAI_API_KEY"),
    });
  });

  it("names the deployment instead of the model", async () => {
    const { body } = await capture({ resource: "r", apiKey, deployment: "our-model" });
    expect(JSON.parse(body)).toMatchObject({ model: "our-model" });
  });

  it("has the URL and the key header of OpenAI's own clients", async () => {
    const server = await startCloud(answer);
    const messages = [{ role: "user" as const, content: "Hi." }];
    const endpoint = server.url;
    const official = new AzureOpenAI({ endpoint, apiKey, apiVersion: "2024-10-21", deployment: "our-model" });
    await official.chat.completions.create({ model: "our-model", messages });
    const v1 = new OpenAI({
      baseURL: `${endpoint}/openai/v1`,
      apiKey,
      defaultHeaders: { "api-key": apiKey },
    });
    await v1.responses.create({ model: "our-model", input: "Hi." });
    const common = { model: "our-model", baseURL: endpoint, apiKey, stream: false };
    await readChunks(azure({ ...common, apiVersion: "2024-10-21" }));
    await readChunks(azure(common));
    server.close();
    const describeRequest = ({ url, headers }: CloudRequest) => [url, headers["api-key"]];
    const [dated, newest, ...own] = server.requests.map(describeRequest);
    expect(own).toEqual([dated, newest]);
  });
});

describe("a token of Microsoft Entra", () => {
  it("that was refused is renewed once, and the request sent again", async () => {
    const server = await startCloud(({ url, headers }) =>
      headers.authorization === "Bearer fresh-token" ? answer({ url }) : { status: 401, body: "expired" },
    );
    const tokens = ["stale-token", "fresh-token", "fresh-token"];
    const model = azure({
      ...{ model: "m", baseURL: server.url, stream: false, circuit: false as const },
      token: () => tokens.shift() ?? "none",
    });
    expect(joinText(await readChunks(model))).toBe("ok");
    server.close();
    expect(server.requests).toHaveLength(2);
    expect(server.requests[0]?.body).toBe(server.requests[1]?.body);
  });

  it("that is refused again, or has no replacement, fails without quoting it", async () => {
    const server = await startCloud(({ headers }) => ({
      status: 403,
      body: JSON.stringify({ error: { message: `Token ${headers.authorization?.slice(7)} is not allowed` } }),
    }));
    const call = (tokens: string[]) =>
      readChunks(azure({ model: "m", baseURL: server.url, token: () => tokens.shift() ?? "token-last" }));
    for (const tokens of [["token-one", "token-two", "token-two"], []])
      await expect(call(tokens)).rejects.toMatchObject({
        code: "model_auth",
        message: "azure/m responded with 403: Token *** is not allowed",
      });
    server.close();
    expect(server.requests).toHaveLength(3);
  });

  it("that never arrives does not outlive the request's time limit", async () => {
    const model = azure({
      ...{ model: "m", resource: "r", timeouts: { firstByteMs: 5 } },
      token: () => new Promise(() => undefined),
    });
    await expect(readChunks(model)).rejects.toMatchObject({ code: "model_timeout" });
  });
});

describe("Azure's content filter", () => {
  const stream = (...events: object[]) => ({
    headers: { "content-type": "text/event-stream" },
    body: `${events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("")}data: [DONE]\n\n`,
  });
  const safe = { hate: { filtered: false, severity: "safe" } };
  const chunk = (delta: object, rest: object = {}) => ({
    id: "chatcmpl-1",
    choices: [{ index: 0, delta, finish_reason: null, content_filter_results: safe, ...rest }],
  });
  const ask = async (...events: object[]) => {
    const server = await startCloud(() => stream(...events));
    const model = azure({ model: "m", apiKey, baseURL: server.url, api: "chat" });
    const chunks = await readChunks(model).finally(() => server.close());
    return { text: joinText(chunks), end: chunks.find(({ type }) => type === "finish") };
  };
  const promptResults = { id: "", choices: [], prompt_filter_results: [{ content_filter_results: safe }] };

  it("may report on the prompt, on each delta, and later, without an effect on the answer", async () => {
    const late = {
      id: "",
      choices: [
        {
          index: 0,
          finish_reason: null,
          content_filter_offsets: { end_offset: 2 },
          content_filter_results: safe,
        },
      ],
    };
    const events = [promptResults, chunk({ content: "ok" }), chunk({}, { finish_reason: "stop" }), late];
    expect(await ask(...events)).toEqual({ text: "ok", end: { type: "finish", reason: "end" } });
  });

  it("may stop an answer midway, also after it ended", async () => {
    const filtered = chunk({}, { finish_reason: "content_filter" });
    const end = { type: "finish", reason: "content_filter" };
    expect(await ask(promptResults, chunk({ content: "so" }), filtered)).toEqual({ text: "so", end });
    expect(await ask(chunk({ content: "so" }), chunk({}, { finish_reason: "stop" }), filtered)).toEqual({
      text: "so",
      end,
    });
  });

  it("refuses a prompt with an error of its own", async () => {
    const error = { code: "content_filter", message: "The prompt was filtered.", innererror: {} };
    const server = await startCloud(() => ({ status: 400, body: JSON.stringify({ error }) }));
    const asked = readChunks(azure({ model: "m", apiKey, baseURL: server.url }));
    await expect(asked).rejects.toMatchObject({ code: "content_filter", retryable: false });
    server.close();
  });

  const recording = fileURLToPath(
    new URL(
      "../../../../../shared/wire/openllmetry/openai-compat/packages_opentelemetry-instrumentation-openai_traces_test_azure_test_chat_streaming.json",
      import.meta.url,
    ),
  );
  it.skipIf(!existsSync(recording))("is in the recorded streams, which are read to their end", async () => {
    const { interactions } = JSON.parse(readFileSync(recording, "utf8"));
    for (const { response } of interactions) {
      const server = await startCloud(() => ({ body: response.body }));
      const chunks = await readChunks(azure({ model: "m", apiKey, baseURL: server.url, api: "chat" }));
      server.close();
      expect(response.body).toContain("prompt_filter_results");
      expect(joinText(chunks)).toMatch(/opentelemetry/i);
      expect(chunks.at(-1)).toEqual({ type: "finish", reason: "end" });
    }
  });
});

describe("reasoning of a model in Azure", () => {
  const item = { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "sealed" };
  const message = {
    type: "message",
    id: "msg_1",
    role: "assistant",
    content: [{ type: "output_text", text: "ok" }],
  };
  const respond = () => ({ body: JSON.stringify({ status: "completed", output: [item, message] }) });

  it("returns to Azure, and not to OpenAI; that of OpenAI does not reach Azure", async () => {
    const server = await startCloud(respond);
    const common = { model: "gpt-5-mini", apiKey, baseURL: server.url, stream: false };
    const clients = [azure(common), openai(common)];
    for (const source of clients) {
      const chunks = await readChunks(source);
      const parts = chunks.flatMap((chunk) =>
        chunk.type === "reasoning" || chunk.type === "text" ? [chunk] : [],
      );
      const history: Entry[] = [
        ...shortRequest.history,
        { type: "assistant", parts },
        { type: "user", content: "Go on." },
      ];
      for (const target of clients) {
        await readChunks(target, { ...shortRequest, history });
        expect(server.requests.at(-1)?.body.includes("sealed")).toBe(source === target);
        expect(server.requests.at(-1)?.body.includes("rs_1")).toBe(source === target);
      }
    }
    server.close();
  });
});
