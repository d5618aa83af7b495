import { escapeInvisible } from "../escape-text.ts";
import { type Entry, toPlainText } from "../history.ts";
import { getLabels, type Labels, type Source } from "../labels.ts";
import type { Policy } from "../policy.ts";
import { hasEffect, type Tool } from "../tool.ts";

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

/** Uses labels and arguments only, so that neither the model nor untrusted text can phrase the question to the user. */
function formatGateReason({ labels, tool, target }: GateInput): string {
  const action = tool.effects === "send" ? "reaches the outside" : "changes something";
  const destination = target === undefined ? "" : ` (${escapeInvisible(target)})`;
  const untrustedText = `after untrusted text was read by ${formatSources(labels.untrusted)}`;
  const privateData =
    labels.private.length > 0 ? `, and private data by ${formatSources(labels.private)}` : "";
  return `"${tool.name}" ${action}${destination} ${untrustedText}${privateData}.`;
}

function formatSources(sources: readonly Source[]): string {
  const places = sources
    .slice(0, 2)
    .map(({ tool, turn, input }) => `${tool} in turn ${turn} with ${escapeInvisible(input)}`);
  return places.join(", ") + (sources.length > 2 ? " and others" : "");
}

/**
 * Whether the user has named the target in a message. It must be a whole token: otherwise "example.com" would also name
 * "example.co".
 */
export function isNamedBy(history: readonly Entry[], target: string): boolean {
  const normalizedTarget = normalizeToken(target);
  return history.some(
    (entry) =>
      entry.type === "user" &&
      splitTokens(toPlainText(entry.content)).some((token) => normalizeToken(token) === normalizedTarget),
  );
}

function splitTokens(text: string): string[] {
  return text.split(/[\s"'`<>()[\]{}|,;]+/).flatMap((token) => [token, token.replace(/[.:!?]+$/, "")]);
}

/** Normalizes a URL; converts anything else to lower case. */
function normalizeToken(text: string): string {
  return URL.canParse(text) ? new URL(text).href : text.trim().toLowerCase();
}
