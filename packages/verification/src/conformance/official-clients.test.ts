import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import type { Model, ModelRequest } from "capstan";
import { anthropic } from "capstan/models/anthropic";
import { azure } from "capstan/models/azure";
import { bedrock } from "capstan/models/bedrock";
import { gemini } from "capstan/models/gemini";
import { openai } from "capstan/models/openai";
import { vertex } from "capstan/models/vertex";
import { OAuth2Client } from "google-auth-library";
import OpenAI, { AzureOpenAI } from "openai";
import { bedrock as officialBedrock } from "openai/providers/bedrock";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ReceivedRequest, startCaptureServer } from "./capture-server.ts";
import { sendRandomRequests } from "./check-requests.ts";

let server: Awaited<ReturnType<typeof startCaptureServer>>;
beforeAll(async () => {
  server = await startCaptureServer();
});
afterAll(() => server.close());

/** Returns the request that a call sends. The answer is no answer to it, so the call may fail. */
async function receive(call: () => Promise<unknown>): Promise<ReceivedRequest> {
  const before = server.received.length;
  await call().catch(() => undefined);
  const [request] = server.received.slice(before);
  if (!request) throw new Error("No request arrived.");
  return request;
}

const question: ModelRequest = {
  ...{ instructions: "", history: [{ type: "user", content: "?" }] },
  ...{ tools: [], toolChoice: "none", thinking: false },
};

async function ask(model: Model): Promise<void> {
  const signal = new AbortController().signal;
  for await (const _batch of model.stream(question, { signal }));
}

const apiKey = "key-1234567890";

/**
 * The official client of Anthropic speaks a later version, which sends keys as bearer tokens and has no temperature.
 * Ours stays with the version in which older models accept one.
 */
const olderVersion = {
  authorization: undefined,
  "x-api-key": apiKey,
  "anthropic-version": "2023-06-01",
};

function pickHeaders({ headers }: ReceivedRequest) {
  const credentials = ["authorization", "api-key", "x-api-key", "x-goog-api-key"];
  const names = [...credentials, "anthropic-version", "content-type"];
  return Object.fromEntries(names.map((name) => [name, headers[name]]));
}
const messages = [{ role: "user" as const, content: "?" }];

const azureOptions = {
  ...{ apiKey, apiVersion: "2024-10-21", model: "gpt-5", deployment: "my deployment" },
};

const bedrockOptions = { apiKey, region: "us-east-1", model: "openai.gpt-oss-120b-1:0" };

function createOfficialBedrock(url: string): OpenAI {
  const { region } = bedrockOptions;
  const provider = officialBedrock({ apiKey, region, endpoint: "runtime", baseURL: `${url}/openai/v1` });
  return new OpenAI({ provider, maxRetries: 0 });
}

describe.each([true, false])("a request of our clients, streamed: %j", (stream) => {
  const clients: { [name: string]: { ours(url: string): Model; theirs(url: string): Promise<unknown> } } = {
    anthropic: {
      ours: (baseURL) => anthropic({ model: "claude-opus-5", apiKey, baseURL, stream, circuit: false }),
      theirs: (baseURL) =>
        new Anthropic({ apiKey, baseURL, maxRetries: 0 }).messages.create({
          ...{ model: "claude-opus-5", max_tokens: 9, messages, stream },
        }),
    },
    "openai-responses": {
      ours: (baseURL) => openai({ model: "gpt-5", apiKey, baseURL, stream, circuit: false }),
      theirs: (baseURL) =>
        new OpenAI({ apiKey, baseURL, maxRetries: 0 }).responses.create({
          model: "gpt-5",
          input: "?",
          stream,
        }),
    },
    "openai-chat": {
      ours: (baseURL) => openai({ model: "gpt-5", apiKey, baseURL, stream, circuit: false, api: "chat" }),
      theirs: (baseURL) =>
        new OpenAI({ apiKey, baseURL, maxRetries: 0 }).chat.completions.create({
          ...{ model: "gpt-5", messages, stream },
        }),
    },
    "azure, chat": {
      ours: (baseURL) => azure({ ...azureOptions, baseURL, stream, circuit: false }),
      theirs: (endpoint) =>
        new AzureOpenAI({ ...azureOptions, endpoint, maxRetries: 0 }).chat.completions.create({
          ...{ model: "gpt-5", messages, stream },
        }),
    },
    "azure, responses": {
      ours: (baseURL) => azure({ ...azureOptions, baseURL, stream, circuit: false, api: "responses" }),
      theirs: (endpoint) =>
        new AzureOpenAI({ ...azureOptions, endpoint, maxRetries: 0 }).responses.create({
          ...{ model: "my deployment", input: "?", stream },
        }),
    },
    "bedrock, chat": {
      ours: (baseURL) => bedrock({ ...bedrockOptions, baseURL, stream, circuit: false }),
      theirs: (url) =>
        createOfficialBedrock(url).chat.completions.create({
          ...{ model: bedrockOptions.model, messages, stream },
        }),
    },
    "bedrock, responses": {
      ours: (baseURL) => bedrock({ ...bedrockOptions, baseURL, stream, circuit: false, api: "responses" }),
      theirs: (url) =>
        createOfficialBedrock(url).responses.create({ model: bedrockOptions.model, input: "?", stream }),
    },
    gemini: {
      ours: (url) =>
        gemini({ model: "gemini-3.8-flash", apiKey, baseURL: `${url}/v1beta`, stream, circuit: false }),
      theirs: async (baseUrl) => {
        const { models } = new GoogleGenAI({ apiKey, httpOptions: { baseUrl } });
        const parameters = { model: "gemini-3.8-flash", contents: "?" };
        await (stream ? models.generateContentStream(parameters) : models.generateContent(parameters));
      },
    },
  };

  it.each(
    Object.keys(clients),
  )("has the address and the credentials of the official client: %s", async (name) => {
    const { ours, theirs } = clients[name] as (typeof clients)[string];
    const sent = await receive(() => ask(ours(server.url)));
    const official = await receive(() => theirs(server.url));
    expect([sent.method, sent.path]).toEqual([official.method, official.path]);
    expect(pickHeaders(sent)).toEqual({
      ...pickHeaders(official),
      ...(name === "anthropic" && olderVersion),
    });
  });
});

it("a request to Vertex has the address and the token of the official client", async () => {
  const cloud = { project: "my-project", location: "europe-west1" };
  const model = "gemini-3.8-flash";
  const question: { url?: URL; headers?: Headers } = {};
  const client = vertex({
    ...{ ...cloud, model, token: () => "token-1", circuit: false },
    fetch: async (input, init) => {
      Object.assign(question, { url: new URL(String(input)), headers: new Headers(init?.headers) });
      throw new TypeError("captured");
    },
  });
  await ask(client).catch(() => undefined);
  const authClient = new OAuth2Client();
  authClient.setCredentials({ access_token: "token-1", expiry_date: Number.MAX_SAFE_INTEGER });
  const httpOptions = { baseUrl: server.url, apiVersion: "v1" };
  const official = await receive(() => {
    const google = new GoogleGenAI({
      vertexai: true,
      ...cloud,
      httpOptions,
      googleAuthOptions: { authClient: authClient as never },
    });
    return google.models.generateContentStream({ model, contents: "?" });
  });
  expect(`${question.url?.pathname}${question.url?.search}`).toBe(official.path);
  expect(question.headers?.get("authorization")).toBe(official.headers.authorization);
});

describe("Google's own client", () => {
  /** Sends a body of ours with the official client, whose converter picks the fields that it knows. */
  async function convert(model: string, body: { readonly [field: string]: unknown }): Promise<unknown> {
    const { models } = new GoogleGenAI({ apiKey, httpOptions: { baseUrl: server.url } });
    const { contents, generationConfig, ...rest } = body;
    const config = { ...(generationConfig as object), ...rest };
    const sent = await receive(() => models.generateContent({ model, contents: contents as [], config }));
    const { generationConfig: converted = {}, ...others } = sent.body;
    // It also sends an empty configuration.
    return Object.keys(converted as object).length > 0 ? sent.body : others;
  }

  it("makes the same body of every request to Gemini (S0-42)", async () => {
    for (const { model, body } of await sendRandomRequests(20_261_116, 50, ["gemini"]))
      expect(await convert(model, body)).toEqual(body);
  });

  it("loses a field that does not exist", async () => {
    const contents = [{ role: "user", parts: [{ text: "?" }] }];
    const body = { contents, generationConfig: { seed: 1 }, serviceTier: "flex" };
    expect(await convert("gemini-3.8-flash", body)).toEqual(body);
    expect(await convert("gemini-3.8-flash", { ...body, generationConfig: { seed: 1, sead: 1 } })).toEqual(
      body,
    );
    expect(await convert("gemini-3.8-flash", { ...body, servicetier: "flex" })).toEqual(body);
  });
});
