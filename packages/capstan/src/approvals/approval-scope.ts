import { escapeInvisible } from "../escape-text.ts";

/** The calls that a rule would cover: those with the same target, or else with the same arguments. */
export type ApprovalScope = {
  /** Digest of the tool's definition and of the target or the arguments. */
  readonly digest: string;
  /** Absent if the tool does not know its target: then all arguments must be the same. */
  readonly target?: string;
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
export function describeScope(tool: string, { target }: Pick<ApprovalScope, "target">): string {
  return target === undefined
    ? `${escapeInvisible(tool)} with exactly these arguments`
    : `${escapeInvisible(tool)} for ${escapeInvisible(target)}, whatever the other arguments are`;
}

/** Describes the calls that a rule covers, in one line. */
export function describeRule({
  tool,
  target,
  shown,
}: Pick<ApprovalRule, "tool" | "target" | "shown">): string {
  const scope = describeScope(tool, target === undefined ? {} : { target });
  return target === undefined ? `${scope}: ${shown.replaceAll(/\s+/g, " ")}` : scope;
}
