import { isRecord, type Json } from "../../base/json.ts";
import {
  type AssistantEntry,
  type AssistantPart,
  type CallPart,
  type Entry,
  type GeneratedMedia,
  getCalls,
  type MediaPart,
  type Part,
  type ResultEntry,
  toPlainText,
} from "../../kernel/history.ts";
import { getOwnData } from "../wire.ts";
import { describeMedia, findSource } from "../wire-media.ts";
import { geminiToolNames } from "./names.ts";

/** The parts of one entry as JSON, joined by commas. `attachments` are the media of a result. */
export type SerializedEntry = {
  readonly role: "user" | "model" | "results";
  readonly parts: string;
  readonly attachments?: string;
};

/** Google's documented placeholder for calls without a Gemini signature. */
const unsignedMarker = { thoughtSignature: "skip_thought_signature_validator" };

const serialized = new WeakMap<Entry, SerializedEntry>();
const serializedSigned = new WeakMap<Entry, SerializedEntry>();

/** Serializes an entry once. `needsSignatures`: the model requires signatures on calls. */
export function serializeEntryAt(
  history: readonly Entry[],
  index: number,
  needsSignatures: boolean,
): SerializedEntry {
  const cache = needsSignatures ? serializedSigned : serialized;
  const entry = history[index] as Entry;
  const known = cache.get(entry);
  if (known) return known;
  const fresh =
    entry.type === "result"
      ? serializeResult(entry, findCallById(history, index, entry))
      : serializeEntry(entry, needsSignatures);
  cache.set(entry, fresh);
  return fresh;
}

function serializeEntry(entry: Exclude<Entry, ResultEntry>, needsSignatures: boolean): SerializedEntry {
  switch (entry.type) {
    case "user": {
      const parts = toUserParts(entry.content);
      return { role: "user", parts: serializeParts(parts.length > 0 ? parts : [{ text: " " }]) };
    }
    case "summary":
      return {
        role: "user",
        parts: serializeParts([{ text: `Summary of the conversation so far:\n${entry.text}` }]),
      };
    case "assistant": {
      const first = entry.parts.find((part) => part.type === "call");
      return {
        role: "model",
        parts: serializeParts(
          entry.parts.flatMap((part) =>
            part.type === "media"
              ? toGeneratedPart(part, entry)
              : toModelParts(part, needsSignatures && part === first),
          ),
        ),
      };
    }
  }
}

function serializeParts(parts: readonly object[]): string {
  return parts.map((part) => JSON.stringify(part)).join(",");
}

function toModelParts(part: Exclude<AssistantPart, GeneratedMedia>, mustSign: boolean): readonly object[] {
  const own = part.type === "opaque" ? getOwnData("gemini", part.data) : getOwnData("gemini", part.opaque);
  const ownFields = isRecord(own) ? own : undefined;
  switch (part.type) {
    case "text":
      return part.text || ownFields ? [{ text: part.text, ...ownFields }] : [];
    case "reasoning":
      // Reasoning without a signature, or from another provider, is of no use to the model.
      return ownFields ? [{ text: part.text, thought: true, ...ownFields }] : [];
    case "opaque":
      return ownFields ? [ownFields] : [];
    case "call": {
      const { id: _, ...signature } = ownFields ?? {};
      return [{ functionCall: toFunctionCall(part), ...(mustSign && unsignedMarker), ...signature }];
    }
  }
}

/** Media of Gemini are sent back with their signature; media of other providers are described. */
function toGeneratedPart(part: GeneratedMedia, entry: AssistantEntry): readonly object[] {
  const own = getOwnData("gemini", part.opaque);
  const { mediaType: mimeType, data } = part;
  if (isRecord(own) && data !== undefined) return [{ inlineData: { mimeType, data }, ...own }];
  const text = describeMedia(part, entry);
  return text === "" ? [] : [{ text }];
}

function toFunctionCall(call: CallPart): object {
  const args = call.raw === undefined ? call.input : { _raw: call.raw };
  return { ...getOwnId(call), name: geminiToolNames.encodeName(call.name), args };
}

/** Only ids assigned by Gemini are sent back; without ids, calls and results are matched by order. */
function getOwnId(call: CallPart | undefined): { readonly id?: Json } {
  const own = getOwnData("gemini", call?.opaque);
  return isRecord(own) && typeof own.id === "string" ? { id: own.id } : {};
}

function findCallById(
  history: readonly Entry[],
  index: number,
  { callId }: ResultEntry,
): CallPart | undefined {
  for (let at = index - 1; at >= 0; at -= 1) {
    const entry = history[at];
    if (entry?.type === "assistant") return getCalls(entry).find(({ id }) => id === callId);
  }
  return undefined;
}

function serializeResult(entry: ResultEntry, call: CallPart | undefined): SerializedEntry {
  const { content, status, error } = entry;
  const text = toPlainText(content);
  const response = status === "ok" ? { result: text } : { error: text || error?.message || status };
  const functionResponse = {
    ...getOwnId(call),
    name: geminiToolNames.encodeName(call?.name ?? entry.name),
    response,
  };
  const files = typeof content === "string" ? [] : content.filter((part) => part.type !== "text");
  return {
    role: "results",
    parts: serializeParts([{ functionResponse }]),
    ...(files.length > 0 && {
      attachments: serializeParts([{ text: `From the result of ${entry.name}:` }, ...files.map(toUserPart)]),
    }),
  };
}

function toUserParts(content: string | readonly Part[]): readonly object[] {
  if (typeof content === "string") return content ? [{ text: content }] : [];
  return content.filter((part) => part.type !== "text" || part.text).map(toUserPart);
}

function toUserPart(part: Part): object {
  if (part.type === "text") return { text: part.text };
  return toGeminiMedia(part) ?? { text: toPlainText([part]) };
}

/** The API takes every type; which of them a model understands is up to the model. */
export function toGeminiMedia(part: MediaPart): object | undefined {
  const source = findSource(part, "gemini");
  // A data URL names its type.
  const mimeType = /^data:([^;,]+)/i.exec(part.data ?? part.url ?? "")?.[1] ?? part.mediaType;
  if (source?.type === "data") return { inlineData: { mimeType, data: source.data } };
  const fileUri = source?.type === "file" ? source.id : source?.url;
  return fileUri === undefined ? undefined : { fileData: { mimeType, fileUri } };
}
