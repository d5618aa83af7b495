import { AgentError } from "../../base/errors.ts";
import { isRecord, isSameJson, toBase64 } from "../../base/json.ts";
import type { Chunk } from "../../kernel/model.ts";
import { readLogprobs } from "../logprobs.ts";
import { createStreamIdentity, type StreamIdentity } from "../stream-identity.ts";
import { createFinish, toList } from "../wire.ts";
import { createMediaChunk } from "../wire-media.ts";
import type { Dialect } from "./ai-sdk-prompt.ts";
import { tagProviderData } from "./ai-sdk-prompt.ts";
import { readStopReason, toUsage } from "./finish.ts";

type Metadata = { readonly providerMetadata?: unknown };

/** Stream parts of an AI SDK model. Other types (sources, raw data) are ignored. */
export type AiSdkPart = Metadata &
  (
    | { readonly type: "text-start" | "text-end" | "reasoning-start" | "reasoning-end"; readonly id: string }
    | { readonly type: "text-delta" | "reasoning-delta"; readonly id: string; readonly delta: string }
    | {
        readonly type: "tool-input-start";
        readonly id: string;
        readonly toolName: string;
        readonly providerExecuted?: boolean;
      }
    | { readonly type: "tool-input-delta"; readonly id: string; readonly delta: string }
    | AiSdkCall
    | {
        readonly type: "tool-result";
        readonly toolCallId: string;
        readonly toolName: string;
        readonly result: unknown;
        readonly isError?: boolean;
      }
    | { readonly type: "custom"; readonly kind: string }
    | { readonly type: "file"; readonly mediaType: string; readonly data: unknown }
    | { readonly type: "response-metadata"; readonly id?: string }
    | { readonly type: "finish"; readonly finishReason: unknown; readonly usage: unknown }
    | { readonly type: "error"; readonly error: unknown }
  );

type AiSdkCall = {
  readonly type: "tool-call";
  readonly toolCallId: string;
  readonly toolName: string;
  readonly input: string;
  readonly providerExecuted?: boolean;
};

type OpenCall = { readonly index: number; readonly id: string; text: string; isWhole: boolean };

type PartReaderState = {
  readonly identity: StreamIdentity;
  readonly provider: string;
  /** Latest metadata of each open text or reasoning block. */
  readonly blocks: Map<string, unknown>;
  readonly calls: OpenCall[];
  /** Latest call per id: some providers reuse ids. */
  readonly latest: Map<string, OpenCall>;
  /** All emitted chunks, to replay them when the final arguments of a call differ from the streamed ones. */
  readonly emitted: Chunk[];
};

export function createPartReader({ provider }: Dialect): { read(part: AiSdkPart): readonly Chunk[] } {
  const identity = createStreamIdentity({ isStrict: true });
  const state: PartReaderState = {
    ...{ identity, provider, blocks: new Map(), calls: [], latest: new Map(), emitted: [] },
  };
  return {
    read(part) {
      const chunks = readPart(state, part);
      identity.check(undefined, chunks.length > 0);
      for (const chunk of chunks) if (chunk.type !== "restart") state.emitted.push(chunk);
      return chunks;
    },
  };
}

function readPart(state: PartReaderState, part: AiSdkPart): readonly Chunk[] {
  switch (part.type) {
    case "text-start":
    case "reasoning-start":
    case "text-delta":
    case "reasoning-delta":
    case "text-end":
    case "reasoning-end":
      return readBlock(state, part);
    case "tool-input-start":
      return part.providerExecuted ? [] : [toCallStart(state, openCall(state, part.id), part)];
    case "tool-input-delta":
      return readArguments(state, part);
    case "tool-call":
      return part.providerExecuted ? [toOpaqueChunk(state, part)] : readCall(state, part);
    case "tool-result":
    case "custom":
      return [toOpaqueChunk(state, part)];
    case "file":
      return readFile(state, part);
    case "response-metadata":
      state.identity.check(part.id, false);
      return [];
    case "finish":
      return readFinish(state, part);
    case "error":
      throw part.error;
  }
  return []; // part types added by later versions of the specification
}

type BlockPart = Extract<AiSdkPart, { type: `text-${string}` | `reasoning-${string}` }>;

/** Metadata can arrive with any part of a block; the last one counts and is emitted when the block ends. */
function readBlock({ blocks, provider }: PartReaderState, part: BlockPart): readonly Chunk[] {
  const type = part.type.startsWith("text") ? "text" : "reasoning";
  const key = `${type} ${part.id}`;
  if (part.providerMetadata !== undefined) blocks.set(key, part.providerMetadata);
  if ("delta" in part) return part.delta ? [{ type, text: part.delta }] : [];
  if (!part.type.endsWith("-end")) return [];
  const metadata = blocks.get(key);
  blocks.delete(key);
  return metadata === undefined ? [] : [{ type, text: "", opaque: tagProviderData(provider, metadata) }];
}

/** A generated file: base64 or bytes, tagged with its type from v4 on. */
function readFile(
  { provider }: PartReaderState,
  { mediaType, data: given, providerMetadata = {} }: Extract<AiSdkPart, { type: "file" }>,
): readonly Chunk[] {
  const data = isRecord(given) && given.type === "data" ? given.data : given;
  const opaque = tagProviderData(provider, providerMetadata);
  const base64 = data instanceof Uint8Array ? toBase64(data) : String(data);
  const media = createMediaChunk(mediaType, base64, opaque);
  return media ? [media] : [];
}

function openCall({ calls, latest }: PartReaderState, id: string): OpenCall {
  const known = latest.get(id);
  if (known && !known.isWhole) return known;
  const call: OpenCall = { index: calls.length, id, text: "", isWhole: false };
  calls.push(call);
  latest.set(id, call);
  return call;
}

type CallHead = Metadata & { readonly toolName: string };

function toCallStart({ provider }: PartReaderState, { index, id }: OpenCall, part: CallHead): Chunk {
  const { toolName: name, providerMetadata } = part;
  const opaque =
    providerMetadata === undefined ? {} : { opaque: tagProviderData(provider, providerMetadata) };
  return { type: "call_start", index, id, name, ...opaque };
}

function readArguments(
  { latest }: PartReaderState,
  { id, delta }: Extract<AiSdkPart, { type: "tool-input-delta" }>,
): readonly Chunk[] {
  const call = latest.get(id);
  if (!call || call.isWhole || delta === "") return [];
  call.text += delta;
  return [{ type: "call_delta", index: call.index, text: delta }];
}

/** Only this part completes a call, and its arguments are authoritative. */
function readCall(state: PartReaderState, part: AiSdkCall & Metadata): readonly Chunk[] {
  const { input } = part;
  const call = openCall(state, part.toolCallId);
  const head = toCallStart(state, call, part);
  call.isWhole = true;
  const delta = (text: string): Chunk => ({ type: "call_delta", index: call.index, text });
  if (input === call.text || isSameJson(input, call.text)) return [head];
  if (input.startsWith(call.text)) return [head, delta(input.slice(call.text.length))];
  const rest = state.emitted.filter((chunk) => chunk.type !== "call_delta" || chunk.index !== call.index);
  state.emitted.length = 0;
  return [{ type: "restart", reason: "arguments_corrected" }, ...rest, head, delta(input)];
}

/** Keeps a provider-executed call or result in the form in which the prompt needs it. It never runs here. */
function toOpaqueChunk({ provider }: PartReaderState, part: AiSdkPart): Chunk {
  const { providerMetadata } = part;
  const options = providerMetadata === undefined ? {} : { providerOptions: providerMetadata };
  const content = toPromptPart(part);
  return { type: "opaque", data: tagProviderData(provider, { ...content, ...options }) };
}

function toPromptPart(part: AiSdkPart): object {
  if (part.type === "tool-call") {
    const { toolCallId, toolName, input } = part;
    return { type: part.type, toolCallId, toolName, input: parseInput(input), providerExecuted: true };
  }
  if (part.type === "tool-result") {
    const { toolCallId, toolName, result, isError } = part;
    const output = { type: isError ? "error-json" : "json", value: result ?? null };
    return { type: part.type, toolCallId, toolName, output };
  }
  return { type: "custom", ...(part.type === "custom" && { kind: part.kind }) };
}

function parseInput(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : {};
  } catch {
    return {}; // already executed by the provider: only recorded
  }
}

/** OpenAI's packages report log probabilities at the end, as a list or a list per text. */
function findLogprobs(metadata: unknown): readonly Chunk[] {
  const [own] = isRecord(metadata) ? Object.values(metadata).filter(isRecord) : [];
  return readLogprobs(toList(own?.logprobs).flat());
}

function readFinish(
  { calls }: PartReaderState,
  { finishReason, usage, providerMetadata }: Extract<AiSdkPart, { type: "finish" }>,
): readonly Chunk[] {
  const chunks = [...findLogprobs(providerMetadata)];
  const tokenUsage = toUsage(usage);
  if (tokenUsage) chunks.push({ type: "usage", usage: tokenUsage });
  const reason = readStopReason(finishReason);
  if (!reason) return chunks;
  const runs = reason === "end" || reason === "tool_calls";
  if (runs && calls.some(({ isWhole }) => !isWhole))
    throw new AgentError("stream_truncated", "The model's response ended within a tool call.");
  chunks.push(createFinish(reason, isRecord(finishReason) ? finishReason.raw : undefined));
  return chunks;
}
