import { escapeInvisible } from "../base/escape-text.ts";

/** The calls that a rule would cover: those with the same target or pattern, or else with the same arguments. */
export type ApprovalScope = {
  /** Digest of the tool's definition and of the target, the pattern or the arguments. */
  readonly digest: string;
  /** Without a target and a pattern, all arguments must be the same. */
  readonly target?: string;
  /** A wider set of calls, as the tool names it: `git status *`. */
  readonly pattern?: string;
};

/** Allows calls in a session without asking. Void once the definition of the tool changes. */
export type ApprovalRule = ApprovalScope & {
  readonly id: string;
  readonly tool: string;
  /** The arguments of the call that the user approved, formatted for display. */
  readonly shown: string;
  /** The run in which the user added the rule. */
  readonly runId: string;
  readonly createdAt: number;
};

/** Describes the calls that a rule would cover, for the user to read before adding it. */
export function describeScope(
  tool: string,
  { target, pattern }: Pick<ApprovalScope, "target" | "pattern">,
): string {
  if (pattern !== undefined)
    return `every call of ${escapeInvisible(tool)} that matches ${escapeInvisible(pattern)}`;
  return target === undefined
    ? `${escapeInvisible(tool)} with exactly these arguments`
    : `${escapeInvisible(tool)} for ${escapeInvisible(target)}, whatever the other arguments are`;
}

/** Describes the calls that a rule covers, in one line. */
export function describeRule(rule: Pick<ApprovalRule, "tool" | "target" | "pattern" | "shown">): string {
  const scope = describeScope(rule.tool, rule);
  const isExact = rule.target === undefined && rule.pattern === undefined;
  return isExact ? `${scope}: ${rule.shown.replaceAll(/\s+/g, " ")}` : scope;
}
