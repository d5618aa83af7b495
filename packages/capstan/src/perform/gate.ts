import { escapeInvisible } from "../escape-text.ts";
import { type Entry, toPlainText } from "../history.ts";
import { getLabels, type Labels, type Source } from "../labels.ts";
import type { Policy } from "../policy.ts";
import { hasEffect, type Tool } from "../tool.ts";

/** What stands between "the model asked" and the stored intent. */
export type Verdict =
  | { readonly verdict: "allow" }
  | { readonly verdict: "ask" | "deny"; readonly reason: string; readonly because: readonly Source[] };

export type GateInput = {
  /** Of what the model has read when it asks. */
  readonly labels: Labels;
  readonly tool: Pick<Tool, "name" | "effects" | "reads">;
  /** Where the call goes, if the tool can tell. */
  readonly target: string | undefined;
  /** Whether a person has named that target themselves. */
  isNamed(target: string): boolean;
  readonly policy: Pick<Policy, "gate" | "approvals">;
};

export const allow: Verdict = { verdict: "allow" };

/**
 * The rule of two: of untrusted words, private data and an effect on the world, a run may have any two; a person decides
 * when all three meet. Strict: also when there is nothing private. Words decide nothing here, only labels do.
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

/** From labels and arguments alone: nothing that the model or a stranger has written says what a person is asked. */
function formatGateReason({ labels, tool, target }: GateInput): string {
  const does = tool.effects === "send" ? "reaches the outside" : "changes something";
  const where = target === undefined ? "" : ` (${escapeInvisible(target)})`;
  const untrusted = `after text that is not to be trusted was read by ${formatSources(labels.untrusted)}`;
  const known = labels.private.length > 0 ? `, and private data by ${formatSources(labels.private)}` : "";
  return `"${tool.name}" ${does}${where} ${untrusted}${known}.`;
}

function formatSources(sources: readonly Source[]): string {
  const places = sources
    .slice(0, 2)
    .map(({ tool, turn, input }) => `${tool} in turn ${turn} with ${escapeInvisible(input)}`);
  return places.join(", ") + (sources.length > 2 ? " and others" : "");
}

/**
 * Whether a person has named the target in their own words: as a whole, not as a part of something longer, or else
 * "example.co" would be named by "example.com".
 */
export function isNamedBy(history: readonly Entry[], target: string): boolean {
  const wanted = normalizeToken(target);
  return history.some(
    (entry) =>
      entry.type === "user" &&
      splitTokens(toPlainText(entry.content)).some((token) => normalizeToken(token) === wanted),
  );
}

function splitTokens(text: string): string[] {
  return text.split(/[\s"'`<>()[\]{}|,;]+/).flatMap((token) => [token, token.replace(/[.:!?]+$/, "")]);
}

/** A URL in the one way that parsers write it; anything else without regard to case. */
function normalizeToken(text: string): string {
  return URL.canParse(text) ? new URL(text).href : text.trim().toLowerCase();
}
