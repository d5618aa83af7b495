import type { HostedToolSpec } from "capstan";
import { compatible, fromAiSdk } from "capstan/models";
import { anthropic } from "capstan/models/anthropic";
import { azure } from "capstan/models/azure";
import { bedrock } from "capstan/models/bedrock";
import { gemini } from "capstan/models/gemini";
import { openai } from "capstan/models/openai";
import { vertex } from "capstan/models/vertex";
import type { Capture, Column, Feature } from "./check-cell.ts";

const settings: readonly Feature[] = [
  { label: '`effort: "none"`', settings: { effort: "none" }, isDefault: true },
  { label: '`effort: "high"`', settings: { effort: "high" } },
  { label: "`effort: 4000`", settings: { effort: 4000 } },
  { label: "`temperature`", settings: { temperature: 0.7 } },
  { label: "`topP`", settings: { topP: 0.9 } },
  { label: "`stop`", settings: { stop: ["END"] } },
  { label: "`seed`", settings: { seed: 7 } },
  { label: "`maxOutputTokens`", settings: { maxOutputTokens: 2000 } },
  { label: '`toolChoice: "required"`', settings: { toolChoice: "required" } },
  { label: "`toolChoice: { tool }`", settings: { toolChoice: { tool: "look" } } },
  { label: "`parallelToolCalls: false`", settings: { parallelToolCalls: false } },
  { label: '`serviceTier: "flex"`', settings: { serviceTier: "flex" } },
  { label: '`cache: "off"`', settings: { cache: "off" } },
  { label: '`cache: "long"`', settings: { cache: "long" } },
  { label: "`logprobs`", settings: { logprobs: 2 } },
  { label: "`extra`", settings: { extra: { custom: true } } },
];

const mcp = { label: "docs", url: "https://example.org/mcp", approval: "never" } as const;
const display = { displayWidth: 1280, displayHeight: 800 };
const hosted: readonly HostedToolSpec[] = [
  { kind: "webSearch", name: "web_search", options: {} },
  { kind: "webFetch", name: "web_fetch", options: {} },
  { kind: "codeExecution", name: "code_execution", options: {} },
  { kind: "fileSearch", name: "file_search", options: { stores: ["store_1"] } },
  { kind: "imageGeneration", name: "image_generation", options: {} },
  { kind: "mcp", name: "mcp_docs", options: mcp },
  { kind: "computer", name: "computer", options: display },
];

const mediaTypes = {
  image: "image/png",
  PDF: "application/pdf",
  audio: "audio/wav",
  video: "video/mp4",
} as const;
const data = "bWFya2VyLW9mLXRoZS10YWJsZQ==";
const url = "https://example.org/marker";

const media: readonly Feature[] = Object.entries(mediaTypes).flatMap(([kind, mediaType]) => {
  const type = kind === "image" ? ("image" as const) : ("file" as const);
  return [
    { label: `${kind}, bytes`, marker: data, createMedia: () => ({ type, mediaType, data }) },
    { label: `${kind}, URL`, marker: url, createMedia: () => ({ type, mediaType, url }) },
    {
      label: `${kind}, file id`,
      marker: "file-marker",
      createMedia: (provider: string) => ({ type, mediaType, file: { provider, id: "file-marker" } }),
    },
  ];
});

export const features: readonly Feature[] = [
  ...settings,
  ...hosted.map((tool) => ({ label: `\`hostedTools.${tool.kind}\``, hosted: tool })),
  ...media,
  { label: "`files.upload`", member: "files" },
  { label: "`embed`", member: "embed" },
  { label: "`rerank`", member: "rerank" },
];

/** A `fetch` that reports the request and answers with an error that is not retried. */
function createFetch(capture: Capture): typeof fetch {
  return async (target, { headers, body } = {}) => {
    const sent = { url: String(target), headers: Object.fromEntries(new Headers(headers)) };
    capture({ ...sent, body: JSON.parse(String(body)) });
    return new Response('{"error":{"message":"captured"}}', { status: 400 });
  };
}

const createOptions = (model: string, capture: Capture) => ({
  ...{ model, apiKey: "key", fetch: createFetch(capture) },
  circuit: false as const,
});

const token = () => "token";
const openAiModels = ["gpt-5-mini", "gpt-4.1"];
const claudeModels = ["claude-sonnet-4-5", "claude-opus-4-8"];
const geminiModels = ["gemini-2.5-flash", "gemini-3.5-flash"];

export const columns: readonly Column[] = [
  {
    label: "OpenAI",
    models: openAiModels,
    create: (model, capture) => openai(createOptions(model, capture)),
  },
  {
    label: "OpenAI, chat",
    models: openAiModels,
    create: (model, capture) => openai({ ...createOptions(model, capture), api: "chat" }),
  },
  {
    label: "Anthropic",
    models: claudeModels,
    create: (model, capture) => anthropic(createOptions(model, capture)),
  },
  {
    label: "Gemini",
    models: geminiModels,
    create: (model, capture) => gemini(createOptions(model, capture)),
  },
  {
    label: "Azure",
    models: openAiModels,
    create: (model, capture) => azure({ ...createOptions(model, capture), resource: "r" }),
  },
  {
    label: "Vertex, Gemini",
    models: geminiModels,
    create: (model, capture) => vertex({ ...createOptions(model, capture), project: "p", token }),
  },
  {
    label: "Vertex, Claude",
    models: claudeModels,
    create: (model, capture) => vertex({ ...createOptions(model, capture), project: "p", token }),
  },
  {
    label: "Bedrock, Claude",
    models: ["anthropic.claude-sonnet-4-5-20250929-v1:0", "anthropic.claude-opus-4-8-v1:0"],
    create: (model, capture) => bedrock({ ...createOptions(model, capture), region: "eu-north-1" }),
  },
  {
    label: "Bedrock, others",
    models: ["openai.gpt-oss-120b-1:0"],
    create: (model, capture) => bedrock({ ...createOptions(model, capture), region: "eu-north-1" }),
  },
  {
    label: "compatible",
    models: ["llama-3.3-70b"],
    create: (model, capture) =>
      compatible({ ...createOptions(model, capture), baseURL: "http://127.0.0.1/v1" }),
  },
  {
    label: "AI SDK",
    models: ["any"],
    create: (modelId, capture) =>
      fromAiSdk({
        ...{ specificationVersion: "v4", provider: "test", modelId },
        async doStream({ abortSignal: _, ...options }: { readonly abortSignal?: AbortSignal }) {
          capture(options);
          throw new Error("captured");
        },
      }),
  },
];
