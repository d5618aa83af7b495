import type { Policy } from "../../kernel/policy.ts";
import { breaksRuleOfTwo, type Labels, type Source } from "../../kernel/provenance.ts";
import type { Tool } from "../../kernel/tool.ts";
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
 * together need approval. Only labels count, never the content.
 */
export function checkGate(gated: GateInput): Verdict {
  const { labels, tool, target, policy } = gated;
  if (!breaksRuleOfTwo(labels, tool, policy.gate)) return allow;
  if (target !== undefined && gated.isNamed(target)) return allow;
  const because = [...labels.untrusted.slice(0, 2), ...labels.private.slice(0, 1)];
  return {
    verdict: policy.approvals === "deny" ? "deny" : "ask",
    reason: formatGateReason(gated),
    because,
  };
}
