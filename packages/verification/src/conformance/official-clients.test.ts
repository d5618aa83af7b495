import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import type { Model, ModelRequest } from "capstan";
import { anthropic } from "capstan/models/anthropic";
import { gemini } from "capstan/models/gemini";
import { openai } from "capstan/models/openai";
import OpenAI from "openai";
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
  const names = ["authorization", "x-api-key", "x-goog-api-key", "anthropic-version", "content-type"];
  return Object.fromEntries(names.map((name) => [name, headers[name]]));
}
const messages = [{ role: "user" as const, content: "?" }];

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

describe("Google's own client", () => {
  /** Sends a body of ours with the official client, whose converter picks the fields that it knows. */
  async function convert(model: string, body: { readonly [field: string]: unknown }): Promise<unknown> {
    const { models } = new GoogleGenAI({ apiKey, httpOptions: { baseUrl: server.url } });
    const { contents, generationConfig, ...rest } = body;
    const config = { ...(generationConfig as object), ...rest };
    return (await receive(() => models.generateContent({ model, contents: contents as [], config }))).body;
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
