import { AgentError } from "../../errors.ts";
import { isRecord, type Json, toCanonicalJson } from "../../json.ts";
import type { Chunk } from "../../model.ts";
import type { Dialect } from "./ai-sdk-prompt.ts";
import { ownedBy } from "./ai-sdk-prompt.ts";
import { finishOf, usageOf } from "./finish.ts";

type Metadata = { readonly providerMetadata?: unknown };

/** What a language model of the AI SDK streams. Parts of other types (sources, files, raw data) are left out. */
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

type Reading = {
  readonly provider: string;
  /** The last metadata of each open block of text or reasoning. */
  readonly blocks: Map<string, unknown>;
  readonly calls: OpenCall[];
  /** The latest call of each id: some providers use one twice. */
  readonly latest: Map<string, OpenCall>;
  /** All that was said, for the rare call whose arguments are not the ones that were streamed. */
  readonly said: Chunk[];
};

export function partReader({ provider }: Dialect): { read(part: AiSdkPart): readonly Chunk[] } {
  const reading: Reading = { provider, blocks: new Map(), calls: [], latest: new Map(), said: [] };
  return {
    read(part) {
      const chunks = chunksOf(reading, part);
      for (const chunk of chunks) if (chunk.type !== "restart") reading.said.push(chunk);
      return chunks;
    },
  };
}

function chunksOf(reading: Reading, part: AiSdkPart): readonly Chunk[] {
  switch (part.type) {
    case "text-start":
    case "reasoning-start":
    case "text-delta":
    case "reasoning-delta":
    case "text-end":
    case "reasoning-end":
      return blockChunks(reading, part);
    case "tool-input-start":
      return part.providerExecuted ? [] : [headOf(reading, opened(reading, part.id), part)];
    case "tool-input-delta":
      return streamedArguments(reading, part);
    case "tool-call":
      return part.providerExecuted ? [ownPart(reading, part)] : wholeCall(reading, part);
    case "tool-result":
    case "custom":
      return [ownPart(reading, part)];
    case "finish":
      return finished(reading, part);
    case "error":
      throw part.error;
  }
  return []; // what a later version of the specification adds
}

type BlockPart = Extract<AiSdkPart, { type: `text-${string}` | `reasoning-${string}` }>;

/** The metadata of a block come with any of its parts; the last ones count, and close it. */
function blockChunks({ blocks, provider }: Reading, part: BlockPart): readonly Chunk[] {
  const type = part.type.startsWith("text") ? "text" : "reasoning";
  const key = `${type} ${part.id}`;
  if (part.providerMetadata !== undefined) blocks.set(key, part.providerMetadata);
  if ("delta" in part) return part.delta ? [{ type, text: part.delta }] : [];
  if (!part.type.endsWith("-end")) return [];
  const metadata = blocks.get(key);
  blocks.delete(key);
  return metadata === undefined ? [] : [{ type, text: "", opaque: ownedBy(provider, metadata) }];
}

function opened({ calls, latest }: Reading, id: string): OpenCall {
  const known = latest.get(id);
  if (known && !known.isWhole) return known;
  const call: OpenCall = { index: calls.length, id, text: "", isWhole: false };
  calls.push(call);
  latest.set(id, call);
  return call;
}

type CallHead = Metadata & { readonly toolName: string };

function headOf({ provider }: Reading, { index, id }: OpenCall, part: CallHead): Chunk {
  const { toolName: name, providerMetadata } = part;
  const opaque = providerMetadata === undefined ? {} : { opaque: ownedBy(provider, providerMetadata) };
  return { type: "call_start", index, id, name, ...opaque };
}

function streamedArguments(
  { latest }: Reading,
  { id, delta }: Extract<AiSdkPart, { type: "tool-input-delta" }>,
): readonly Chunk[] {
  const call = latest.get(id);
  if (!call || call.isWhole || delta === "") return [];
  call.text += delta;
  return [{ type: "call_delta", index: call.index, text: delta }];
}

/** Only this part makes a call: its arguments are the ones that count. */
function wholeCall(reading: Reading, part: AiSdkCall & Metadata): readonly Chunk[] {
  const { input } = part;
  const call = opened(reading, part.toolCallId);
  const head = headOf(reading, call, part);
  call.isWhole = true;
  const delta = (text: string): Chunk => ({ type: "call_delta", index: call.index, text });
  if (input === call.text || isSame(input, call.text)) return [head];
  if (input.startsWith(call.text)) return [head, delta(input.slice(call.text.length))];
  const rest = reading.said.filter((chunk) => chunk.type !== "call_delta" || chunk.index !== call.index);
  reading.said.length = 0;
  return [{ type: "restart", reason: "arguments_corrected" }, ...rest, head, delta(input)];
}

function isSame(left: string, right: string): boolean {
  try {
    return toCanonicalJson(JSON.parse(left) as Json) === toCanonicalJson(JSON.parse(right) as Json);
  } catch {
    return false; // half a JSON text is the same as no other
  }
}

/** What the provider did by itself: kept as the part of a prompt that it will be, and never run here. */
function ownPart({ provider }: Reading, part: AiSdkPart): Chunk {
  const { providerMetadata } = part;
  const options = providerMetadata === undefined ? {} : { providerOptions: providerMetadata };
  const content = promptPart(part);
  return { type: "opaque", data: ownedBy(provider, { ...content, ...options }) };
}

function promptPart(part: AiSdkPart): object {
  if (part.type === "tool-call") {
    const { toolCallId, toolName, input } = part;
    return { type: part.type, toolCallId, toolName, input: parsed(input), providerExecuted: true };
  }
  if (part.type === "tool-result") {
    const { toolCallId, toolName, result, isError } = part;
    const output = { type: isError ? "error-json" : "json", value: result ?? null };
    return { type: part.type, toolCallId, toolName, output };
  }
  return { type: "custom", ...(part.type === "custom" && { kind: part.kind }) };
}

function parsed(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : {};
  } catch {
    return {}; // the provider has run it already: this is for the record
  }
}

function finished(
  { calls }: Reading,
  { finishReason, usage }: Extract<AiSdkPart, { type: "finish" }>,
): readonly Chunk[] {
  const chunks: Chunk[] = [];
  const counted = usageOf(usage);
  if (counted) chunks.push({ type: "usage", usage: counted });
  const reason = finishOf(finishReason);
  if (!reason) return chunks;
  const runs = reason === "stop" || reason === "tool_calls";
  if (runs && calls.some(({ isWhole }) => !isWhole))
    throw new AgentError("stream_truncated", "The model's answer ended in the middle of a tool call.");
  chunks.push({ type: "finish", reason });
  return chunks;
}
