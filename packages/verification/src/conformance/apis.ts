import type { Model } from "capstan";
import { anthropic } from "capstan/models/anthropic";
import { bedrock } from "capstan/models/bedrock";
import { gemini } from "capstan/models/gemini";
import { openai } from "capstan/models/openai";
import { vertex } from "capstan/models/vertex";
import type { CapturedRequest } from "./capture-request.ts";

/** Options of every client that is checked. */
export type CaptureOptions = {
  readonly model: string;
  /** Default: true. */
  readonly stream?: boolean;
  readonly fetch: typeof globalThis.fetch;
};

/** An API whose official SDK has types for its requests. */
export type CheckedApi = {
  readonly name: string;
  /** Models of every generation: what a request may contain depends on them. */
  readonly models: readonly string[];
  /** The format of another API in a cloud: fewer requests are enough. */
  readonly isCloud?: true;
  createModel(options: CaptureOptions): Model;
  /** Returns the SDK's type of the body: an expression with the names of `typePrelude`. */
  getType(request: CapturedRequest): string;
};

const isStreamed = ({ body }: CapturedRequest): boolean => body.stream === true;

const shared = { apiKey: "key-1234567890", circuit: false } as const;

export const checkedApis: readonly CheckedApi[] = [
  {
    name: "anthropic",
    models: [
      ...["claude-3-5-haiku-latest", "claude-3-7-sonnet-20250219", "claude-sonnet-4-20250514"],
      ...["claude-opus-4-1", "claude-haiku-4-5", "claude-opus-4-6", "claude-opus-4-8", "claude-sonnet-5"],
      ...[
        "claude-haiku-5-5",
        "claude-sonnet-5-5",
        "claude-opus-5-5",
        "claude-fable-5-1",
        "claude-mythos-preview",
      ],
    ],
    createModel: (options) => anthropic({ ...shared, ...options }),
    getType: (request) => {
      const namespace =
        "anthropic-beta" in request.headers ? "Anthropic.Beta.Messages" : "Anthropic.Messages";
      return `${namespace}.MessageCreateParams${isStreamed(request) ? "Streaming" : "NonStreaming"} & OldSampling`;
    },
  },
  {
    name: "openai-responses",
    models: [
      "gpt-4o",
      "gpt-4.1-mini",
      "o3",
      "gpt-5",
      "gpt-5-mini",
      "gpt-5.1",
      "gpt-5.6",
      "gpt-5-chat-latest",
    ],
    createModel: (options) => openai({ ...shared, ...options }),
    getType: (request) => (isStreamed(request) ? "ResponsesStreaming" : "ResponsesWhole"),
  },
  {
    name: "openai-chat",
    models: [
      "gpt-4o",
      "gpt-4.1-mini",
      "o3",
      "gpt-5",
      "gpt-5-mini",
      "gpt-5.1",
      "gpt-5.6",
      "gpt-5-chat-latest",
    ],
    createModel: (options) => openai({ ...shared, ...options, api: "chat" }),
    getType: (request) =>
      `OpenAI.Chat.ChatCompletionCreateParams${isStreamed(request) ? "Streaming" : "NonStreaming"}`,
  },
  {
    name: "gemini",
    models: [
      ...[
        "gemini-2.0-flash",
        "gemini-2.5-flash",
        "gemini-2.5-pro",
        "gemini-2.5-flash-image",
        "gemma-3-27b-it",
      ],
      ...["gemini-3-pro-preview", "gemini-3.5-flash", "gemini-3.5-flash-lite", "gemini-3.8-flash"],
    ],
    createModel: (options) => gemini({ ...shared, ...options }),
    getType: () => "GeminiBody",
  },
  {
    name: "vertex, Claude",
    isCloud: true,
    models: ["claude-sonnet-4-5@20250929", "claude-opus-4-6", "claude-sonnet-5", "claude-opus-5-5"],
    createModel: (options) =>
      vertex({
        ...options,
        circuit: false,
        project: "my-project",
        location: "global",
        token: () => "token-1",
      }),
    getType: () => "CloudClaude & { anthropic_version: 'vertex-2023-10-16'; stream?: true }",
  },
  {
    name: "bedrock, Claude",
    isCloud: true,
    models: [
      "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
      "anthropic.claude-opus-4-6-v1",
      "anthropic.claude-opus-5-5",
    ],
    createModel: (options) => bedrock({ ...shared, ...options, region: "eu-west-1" }),
    getType: () => "CloudClaude & { anthropic_version: 'bedrock-2023-05-31' }",
  },
];

/**
 * The types of the SDKs, with what they lack:
 *
 * - Anthropic's has dropped temperature and top-p, which newer models reject; older ones accept them.
 * - OpenAI's wants the id and the status of every answer that is sent back. Recorded requests have neither.
 * - Google's has no type for the body of a REST request: the fields are the ones that its converter writes, with the
 *   types of its own values, and their enums as texts.
 */
export const typePrelude = `
import type Anthropic from "@anthropic-ai/sdk";
import type { Content, GenerationConfig, SafetySetting, ServiceTier, Tool, ToolConfig } from "@google/genai";
import type OpenAI from "openai";

type CloudClaude = Omit<Anthropic.Messages.MessageCreateParamsNonStreaming, "model" | "stream" | "service_tier"> & OldSampling;
type OldSampling = { temperature?: number; top_p?: number };

type Answer = OpenAI.Responses.ResponseOutputMessage;
type SentAnswer = Omit<Answer, "id" | "status"> & Partial<Pick<Answer, "id" | "status">>;
type WithInput<T> = Omit<T, "input"> & { input?: (OpenAI.Responses.ResponseInputItem | SentAnswer)[] };
type ResponsesStreaming = WithInput<OpenAI.Responses.ResponseCreateParamsStreaming>;
type ResponsesWhole = WithInput<OpenAI.Responses.ResponseCreateParamsNonStreaming>;

type Rest<T> = unknown extends T ? T : T extends string ? \`\${T}\` : T extends object ? { [K in keyof T]: Rest<T[K]> } : T;
type GeminiBody = {
  contents: Rest<Content>[];
  systemInstruction?: Rest<Content>;
  tools?: Rest<Tool>[];
  toolConfig?: Rest<ToolConfig>;
  generationConfig?: Rest<GenerationConfig>;
  safetySettings?: Rest<SafetySetting>[];
  serviceTier?: Rest<ServiceTier>;
  cachedContent?: string;
  labels?: Record<string, string>;
};
`;
