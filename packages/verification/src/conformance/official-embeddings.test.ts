import { GoogleGenAI } from "@google/genai";
import type { Model } from "capstan";
import { embed } from "capstan/models";
import { azure } from "capstan/models/azure";
import { gemini } from "capstan/models/gemini";
import { openai } from "capstan/models/openai";
import { vertex } from "capstan/models/vertex";
import { OAuth2Client } from "google-auth-library";
import OpenAI, { AzureOpenAI } from "openai";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type ReceivedRequest, startCaptureServer } from "./capture-server.ts";

let server: Awaited<ReturnType<typeof startCaptureServer>>;
beforeAll(async () => {
  server = await startCaptureServer();
});
afterAll(() => server.close());

/** Returns the request that a call sends. The answer has no vectors, so the call may fail. */
async function receive(call: () => Promise<unknown>): Promise<Pick<ReceivedRequest, "path" | "body">> {
  const before = server.received.length;
  await call().catch(() => undefined);
  const [request] = server.received.slice(before);
  if (!request) throw new Error("No request arrived.");
  const { encoding_format: _encoding, ...body } = request.body; // vectors as base64, which few servers support
  return { path: request.path, body };
}

const apiKey = "key-1234567890";
const input = ["one", "two"];
const dimensions = 3;
const azureOptions = {
  apiKey,
  apiVersion: "2024-10-21",
  model: "text-embedding-3-small",
  deployment: "mine",
};

function createGoogleClient(baseUrl: string): GoogleGenAI {
  const authClient = new OAuth2Client();
  authClient.setCredentials({ access_token: "token", expiry_date: Date.now() + 1e9 });
  return new GoogleGenAI({
    ...{ vertexai: true, project: "p", location: "global", httpOptions: { baseUrl } },
    googleAuthOptions: { authClient: authClient as never },
  });
}

const clients: { [name: string]: { ours(url: string): Model; theirs(url: string): Promise<unknown> } } = {
  openai: {
    ours: (baseURL) => openai({ model: "text-embedding-3-small", apiKey, baseURL, circuit: false }),
    theirs: (baseURL) =>
      new OpenAI({ apiKey, baseURL, maxRetries: 0 }).embeddings.create({
        ...{ model: "text-embedding-3-small", input, dimensions },
      }),
  },
  azure: {
    ours: (baseURL) => azure({ ...azureOptions, baseURL, circuit: false }),
    theirs: (endpoint) =>
      new AzureOpenAI({ ...azureOptions, endpoint, maxRetries: 0 }).embeddings.create({
        ...{ model: "mine", input, dimensions },
      }),
  },
  gemini: {
    ours: (url) =>
      gemini({ model: "gemini-embedding-001", apiKey, baseURL: `${url}/v1beta`, circuit: false }),
    theirs: (baseUrl) =>
      new GoogleGenAI({ apiKey, httpOptions: { baseUrl } }).models.embedContent({
        ...{ model: "gemini-embedding-001", contents: input },
        config: { outputDimensionality: dimensions, taskType: "RETRIEVAL_DOCUMENT" },
      }),
  },
  vertex: {
    ours: (url) =>
      vertex({
        ...{ model: "text-embedding-005", token: () => "token", circuit: false },
        baseURL: `${url}/v1beta1/projects/p/locations/global`,
      }),
    theirs: (baseUrl) =>
      createGoogleClient(baseUrl).models.embedContent({
        ...{ model: "text-embedding-005", contents: input },
        config: { outputDimensionality: dimensions, taskType: "RETRIEVAL_DOCUMENT" },
      }),
  },
};

it.each(Object.keys(clients))("an embedding request of %s is that of the official client", async (name) => {
  const client = clients[name];
  const theirs = await receive(async () => client?.theirs(server.url));
  const ours = await receive(async () => {
    const model = client?.ours(server.url);
    if (model) await embed(model, input, { dimensions, kind: "document", cache: false });
  });
  expect(ours).toEqual(theirs);
});
