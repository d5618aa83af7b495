import { type Entry, toPlainText } from "../history.ts";
import type { Policy } from "../policy.ts";
import { getLabels, getProvenance, type Labels, type Source } from "../provenance.ts";
import { hasEffect, type Tool } from "../tool.ts";
import { formatGateReason } from "./gate-reason.ts";

/** Decision about a requested call, made before its intent is stored. */
export type Verdict =
  | { readonly verdict: "allow" }
  | { readonly verdict: "ask" | "deny"; readonly reason: string; readonly because: readonly Source[] };

export type GateInput = {
  /** Labels of everything the model has read so far. */
  readonly labels: Labels;
  readonly tool: Pick<Tool, "name" | "effects" | "reads">;
  /** Destination of the call, if the tool knows it. */
  readonly target: string | undefined;
  /** Whether the user has named that target. */
  isNamed(target: string): boolean;
  readonly policy: Pick<Policy, "gate" | "approvals">;
};

export const allow: Verdict = { verdict: "allow" };

/**
 * Applies the rule of two: a run may combine any two of untrusted text, private data and a side effect; all three
 * together need approval. With `gate: "strict"` the first and the last are enough. Only labels count, never the content.
 */
export function checkGate(gated: GateInput): Verdict {
  const { labels, tool, target, policy } = gated;
  if (policy.gate === "off" || !hasEffect(tool)) return allow;
  if (labels.untrusted.length === 0) return allow;
  const hasPrivate = labels.private.length > 0 || getLabels(tool).includes("private");
  if (policy.gate === "default" && !hasPrivate) return allow;
  if (target !== undefined && gated.isNamed(target)) return allow;
  const because = [...labels.untrusted.slice(0, 2), ...labels.private.slice(0, 1)];
  return {
    verdict: policy.approvals === "deny" ? "deny" : "ask",
    reason: formatGateReason(gated),
    because,
  };
}

/** Shorter values occur in ordinary sentences by chance. */
const minTargetLength = 3;

/**
 * Whether the user has named the target in their own words: as a whole value, since "example.com" does not name
 * "example.co", and not as an ordinary word, which a sentence contains by chance. A value of letters and spaces counts
 * only in quotation marks. Letters that merely look alike differ.
 */
export function isNamedBy(history: readonly Entry[], target: string): boolean {
  if (target.trim().length < minTargetLength) return false;
  const wanted = normalizeValue(target);
  const list = /^[\p{L}\p{M}\s]*$/u.test(target) ? listQuotedValues : listValues;
  return history.some(
    (entry) =>
      entry.type === "user" &&
      getProvenance(entry) === "user" &&
      list(toPlainText(entry.content)).some((value) => normalizeValue(value) === wanted),
  );
}

// A single quotation mark inside a word is an apostrophe.
const quotedValue =
  /"([^"\n]+)"|(?<![\p{L}\p{N}])'([^'\n]+)'(?![\p{L}\p{N}])|`([^`\n]+)`|“([^”\n]+)”|‘([^’\n]+)’|«([^»\n]+)»/gu;

function listQuotedValues(text: string): string[] {
  return [...text.matchAll(quotedValue)].map((match) => match.slice(1).find((value) => value) ?? "");
}

function listValues(text: string): string[] {
  const words = text.split(/[\s"`<>“”«»]+/);
  // A URL may contain commas; elsewhere they separate values.
  const tokens = words.flatMap((word) => (word.includes("://") ? word : word.split(/[,;|]+/)));
  return [...tokens, ...tokens.map(trimPunctuation), ...listQuotedValues(text)];
}

/** Removes the brackets around a value and the punctuation after it, but no bracket that belongs to the value. */
function trimPunctuation(token: string): string {
  const start = token.replace(/^['‘([{]+/, "");
  return start.replace(/[([{]/.test(start) ? /['’.,:;!?]+$/ : /['’.,:;!?)\]}]+$/, "");
}

/** Normalizes a URL. In other values only the case of ASCII letters does not matter. */
function normalizeValue(text: string): string {
  return URL.canParse(text)
    ? new URL(text).href
    : text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}
