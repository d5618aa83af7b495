import { errorCodes } from "../errors.ts";
import { isRecord } from "../json.ts";
import type { Mask } from "./json-text.ts";
import type { MaskedStream } from "./mask-secrets.ts";
import { isMarkedCut } from "./mask-secrets.ts";
import { maskedValue, type ValueMasks, withItems, withMembers } from "./mask-value.ts";

export type FactMasks = ValueMasks & {
  /** For a text that may have been cut. */
  readonly cutText: Mask;
  newStream(): MaskedStream;
};

/**
 * Ids, and words of this library's own vocabulary. They pair calls with results and are compared, so they must stay;
 * a secret that happens to be one of them ("message") is no secret there. Ids that a model makes up are masked before
 * they are used, see `maskedModel`.
 */
const ours: ReadonlySet<string> = new Set([
  ...["type", "status", "finish", "tools", "chain", "reads", "policy", "timeZone"],
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

/** What models, tools and clients give as data: everything in it is masked, keys and numbers too. */
const data: ReadonlySet<string> = new Set([
  ...["arguments", "data", "affected", "props", "opaque", "contexts", "value", "schema", "state"],
]);

/** Masks a fact, a delta or an outcome. One without secrets comes back as it is. */
export function maskedFact<Body extends object>(body: Body, masks: FactMasks): Body {
  return maskedMembers(body, {
    masks,
    type: (body as { readonly type?: unknown }).type,
    isCut: isBrokenOff(body),
  });
}

/** A message that ended in the middle of a sentence, perhaps of a secret. */
export function isBrokenOff(body: object): boolean {
  const { type, finish } = body as { readonly type?: unknown; readonly finish?: unknown };
  return type === "message" && finish !== "stop" && finish !== "tool_calls";
}

type Walk = { readonly masks: FactMasks; readonly type: unknown; readonly isCut: boolean };

function maskedMembers<Members extends object>(members: Members, walk: Walk): Members {
  return withMembers(members, (key, member) => {
    if (ours.has(key) || (key === "code" && isOwnCode(member, walk))) return member;
    return isData(key, member, walk) ? maskedValue(member, walk.masks) : maskedMember(key, member, walk);
  });
}

function maskedMember(key: string, member: unknown, walk: Walk): unknown {
  const { masks, isCut } = walk;
  if (typeof member === "string") {
    // The message of an error may be cut without a mark.
    return isCut || key === "message" || isMarkedCut(member) ? masks.cutText(member) : masks.text(member);
  }
  if (Array.isArray(member))
    return withItems(maskedTogether(member, masks), (item) => maskedMember(key, item, walk));
  return isRecord(member) ? maskedMembers(member, walk) : member;
}

/** A tool may have codes of its own. */
function isOwnCode(code: unknown, { type }: Walk): boolean {
  return type === "warning" || type === "limit_reached" || Object.hasOwn(errorCodes, String(code));
}

function isData(key: string, member: unknown, { type }: Walk): boolean {
  // The input of a run is a list of entries; that of a call is data.
  if (key === "input") return !Array.isArray(member);
  if (key === "output") return type === "done";
  return data.has(key);
}

/** Parts that are read as one text are masked as one, or a secret would get through in two of them. */
function maskedTogether(parts: readonly unknown[], masks: FactMasks): readonly unknown[] {
  return parts.length < 2 ? parts : maskedKind(maskedKind(parts, "text", masks), "reasoning", masks);
}

function maskedKind(parts: readonly unknown[], kind: string, masks: FactMasks): readonly unknown[] {
  const texts = parts.map((part) => (isRecord(part) && part.type === kind ? part.text : undefined));
  const said = texts.filter((text) => typeof text === "string");
  if (said.length < 2 || masks.text(said.join("")) === said.join("")) return parts;
  const last = texts.findLastIndex((text) => typeof text === "string");
  const stream = masks.newStream();
  return parts.map((part, index) => {
    const text = texts[index];
    if (!isRecord(part) || typeof text !== "string") return part;
    return { ...part, text: stream.push(text) + (index === last ? stream.end() : "") };
  });
}
