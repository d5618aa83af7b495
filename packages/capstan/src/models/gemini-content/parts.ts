import {
  type AssistantPart,
  type CallPart,
  type Entry,
  getCalls,
  type Part,
  type ResultEntry,
  toPlainText,
} from "../../history.ts";
import { isRecord, type Json } from "../../json.ts";
import { ownData } from "../wire.ts";
import { geminiToolNames } from "./names.ts";

/** The parts of one entry as JSON, joined by commas. `attached` is what a result has beside its text. */
export type Written = {
  readonly role: "user" | "model" | "results";
  readonly parts: string;
  readonly attached?: string;
};

/** Google's own stand-in for the signature of a call that Gemini did not make, or made without one. */
const unsigned = { thoughtSignature: "skip_thought_signature_validator" };

const written = new WeakMap<Entry, Written>();
const writtenSigned = new WeakMap<Entry, Written>();

/** An entry is written once; `signs` says whether the model insists on signatures of calls. */
export function writtenAt(history: readonly Entry[], index: number, signs: boolean): Written {
  const cache = signs ? writtenSigned : written;
  const entry = history[index] as Entry;
  const known = cache.get(entry);
  if (known) return known;
  const made = entry.type === "result" ? result(entry, callOf(history, index, entry)) : write(entry, signs);
  cache.set(entry, made);
  return made;
}

function write(entry: Exclude<Entry, ResultEntry>, signs: boolean): Written {
  switch (entry.type) {
    case "user": {
      const parts = userParts(entry.content);
      return { role: "user", parts: joined(parts.length > 0 ? parts : [{ text: " " }]) };
    }
    case "summary":
      return {
        role: "user",
        parts: joined([{ text: `Summary of the conversation so far:\n${entry.text}` }]),
      };
    case "assistant": {
      const first = entry.parts.find((part) => part.type === "call");
      return {
        role: "model",
        parts: joined(entry.parts.flatMap((part) => modelPart(part, signs && part === first))),
      };
    }
  }
}

function joined(parts: readonly object[]): string {
  return parts.map((part) => JSON.stringify(part)).join(",");
}

function modelPart(part: AssistantPart, mustSign: boolean): readonly object[] {
  const own = part.type === "opaque" ? ownData("gemini", part.data) : ownData("gemini", part.opaque);
  const kept = isRecord(own) ? own : undefined;
  switch (part.type) {
    case "text":
      return part.text || kept ? [{ text: part.text, ...kept }] : [];
    case "reasoning":
      // Thoughts without a signature are of no use to the model, and another's are not its own.
      return kept ? [{ text: part.text, thought: true, ...kept }] : [];
    case "opaque":
      return kept ? [kept] : [];
    case "call": {
      const { id: _, ...signature } = kept ?? {};
      return [{ functionCall: callOnWire(part), ...(mustSign && unsigned), ...signature }];
    }
  }
}

function callOnWire(call: CallPart): object {
  const args = call.raw === undefined ? call.input : { _raw: call.raw };
  return { ...idOf(call), name: geminiToolNames.sent(call.name), args };
}

/** Only an id that Gemini gave goes back: without ids calls and results are matched by their order. */
function idOf(call: CallPart | undefined): { readonly id?: Json } {
  const own = ownData("gemini", call?.opaque);
  return isRecord(own) && typeof own.id === "string" ? { id: own.id } : {};
}

function callOf(history: readonly Entry[], index: number, { callId }: ResultEntry): CallPart | undefined {
  for (let at = index - 1; at >= 0; at -= 1) {
    const entry = history[at];
    if (entry?.type === "assistant") return getCalls(entry).find(({ id }) => id === callId);
  }
  return undefined;
}

function result(entry: ResultEntry, call: CallPart | undefined): Written {
  const { content, status, error } = entry;
  const text = toPlainText(content);
  const response = status === "ok" ? { result: text } : { error: text || error?.message || status };
  const functionResponse = { ...idOf(call), name: geminiToolNames.sent(call?.name ?? entry.name), response };
  const files = typeof content === "string" ? [] : content.filter((part) => part.type !== "text");
  return {
    role: "results",
    parts: joined([{ functionResponse }]),
    ...(files.length > 0 && {
      attached: joined([{ text: `From the result of ${entry.name}:` }, ...files.map(userPart)]),
    }),
  };
}

function userParts(content: string | readonly Part[]): readonly object[] {
  if (typeof content === "string") return content ? [{ text: content }] : [];
  return content.filter((part) => part.type !== "text" || part.text).map(userPart);
}

function userPart(part: Part): object {
  if (part.type === "text") return { text: part.text };
  const { mediaType, data, url } = part;
  if (data !== undefined) return { inlineData: { mimeType: mediaType, data } };
  const inline = /^data:([^;,]*)[^,]*;base64,(.*)$/s.exec(url ?? "");
  if (inline) return { inlineData: { mimeType: inline[1] || mediaType, data: inline[2] } };
  if (url !== undefined) return { fileData: { mimeType: mediaType, fileUri: url } };
  return { text: toPlainText([part]) };
}
