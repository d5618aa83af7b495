import { errorCodes } from "../base/errors.ts";
import { isRecord } from "../base/json.ts";
import { getStopReason, type StoredStopReason } from "../kernel/model.ts";
import type { MaskText } from "./json-text.ts";
import { hasCutMark, type MaskedStream } from "./mask-secrets.ts";
import { mapItems, mapMembers, maskValue, type ValueMasks } from "./mask-value.ts";

export type FactMasks = ValueMasks & {
  /** For a text that may be truncated. */
  readonly cutText: MaskText;
  newStream(): MaskedStream;
};

/**
 * Ids and fields of this library's vocabulary. They pair calls with results and are compared, so they must not change; a
 * secret that equals one of them ("message") is not masked there. Ids chosen by a model are masked before they are used,
 * see `withMaskedModel`.
 */
const vocabularyFields: ReadonlySet<string> = new Set([
  ...["type", "status", "stopReason", "finish", "tools", "chain", "reads", "policy", "timeZone"],
  ...[
    "id",
    "callId",
    "callIds",
    "providerId",
    "runId",
    "parentRunId",
    "parentCallId",
    "sessionId",
    "agent",
    "name",
    "digest",
    "handle",
  ],
  ...["from", "to", "by"],
]);

/** Data from models, tools and clients: everything in it is masked, including keys and numbers. */
const dataFields: ReadonlySet<string> = new Set([
  ...["arguments", "data", "affected", "props", "opaque", "contexts", "value", "schema", "state"],
]);

/** Masks a fact, a delta or an outcome; returns the same object if it has no secrets. */
export function maskFact<Body extends object>(body: Body, masks: FactMasks): Body {
  return maskMembers(body, {
    masks,
    type: (body as { readonly type?: unknown }).type,
    isCut: isTruncatedMessage(body),
  });
}

/** True for a message that was truncated, perhaps within a secret. */
export function isTruncatedMessage(body: object): boolean {
  const { type } = body as { readonly type?: unknown };
  if (type === "message_partial") return true;
  if (type !== "message") return false;
  const stopReason = getStopReason(body as StoredStopReason);
  return stopReason !== "end" && stopReason !== "tool_calls";
}

type FactContext = { readonly masks: FactMasks; readonly type: unknown; readonly isCut: boolean };

function maskMembers<Members extends object>(members: Members, context: FactContext): Members {
  return mapMembers(members, (key, member) => {
    if (key === "logprobs" && Array.isArray(member)) return maskTokens(member, context);
    if (vocabularyFields.has(key) || (key === "code" && isOwnCode(member, context))) return member;
    return isData(key, member, context) ? maskValue(member, context.masks) : maskMember(key, member, context);
  });
}

function maskMember(key: string, member: unknown, context: FactContext): unknown {
  const { masks, isCut } = context;
  if (typeof member === "string") {
    // An error message may be truncated without a mark.
    return isCut || key === "message" || hasCutMark(member) ? masks.cutText(member) : masks.text(member);
  }
  if (Array.isArray(member))
    return mapItems(maskTextParts(member, masks), (item) => maskMember(key, item, context));
  return isRecord(member) ? maskMembers(member, context) : member;
}

/** Distinguishes our codes from codes of tools. */
function isOwnCode(code: unknown, { type }: FactContext): boolean {
  return type === "warning" || type === "limit_reached" || Object.hasOwn(errorCodes, String(code));
}

function isData(key: string, member: unknown, { type }: FactContext): boolean {
  // The input of a run is a list of entries; the input of a call is data.
  if (key === "input") return !Array.isArray(member);
  if (key === "output") return type === "done";
  return dataFields.has(key);
}

/** Tokens with a secret are removed: each holds a piece of it, and so do their alternatives. */
function maskTokens(tokens: readonly unknown[], { masks, isCut }: FactContext): readonly unknown[] {
  const text = tokens.map((item) => (isRecord(item) ? item.token : "")).join("");
  return (isCut ? masks.cutText(text) : masks.text(text)) === text ? tokens : [];
}

/** Masks text parts as one text, because a secret may span two of them. */
function maskTextParts(parts: readonly unknown[], masks: FactMasks): readonly unknown[] {
  return parts.length < 2
    ? parts
    : maskPartsOfType(maskPartsOfType(parts, "text", masks), "reasoning", masks);
}

function maskPartsOfType(parts: readonly unknown[], type: string, masks: FactMasks): readonly unknown[] {
  const texts = parts.map((part) => (isRecord(part) && part.type === type ? part.text : undefined));
  const strings = texts.filter((text) => typeof text === "string");
  if (strings.length < 2 || masks.text(strings.join("")) === strings.join("")) return parts;
  const last = texts.findLastIndex((text) => typeof text === "string");
  const stream = masks.newStream();
  return parts.map((part, index) => {
    const text = texts[index];
    if (!isRecord(part) || typeof text !== "string") return part;
    return { ...part, text: stream.push(text) + (index === last ? stream.end() : "") };
  });
}
