import { type ApprovalRule, describeRule, type SessionView } from "capstan/client";
import { X } from "lucide-react";
import type { ReactNode } from "react";
import { client } from "../../data/client.ts";
import { useRequest } from "../../data/use-request.ts";
import { runWithToast } from "../../shell/toasts.tsx";
import { escapeInvisible } from "../../ui/escape-text.ts";

type ApprovalRulesProps = { readonly sessionId: string; readonly view: SessionView };

/** The calls that are allowed in the session without asking; each can be revoked. */
export function ApprovalRules({ sessionId, view }: ApprovalRulesProps): ReactNode {
  // A rule is added with an approval, here or in another window.
  const key = view.seq === 0 ? undefined : [sessionId, ...view.pending.map(({ callId }) => callId)].join(" ");
  const { value: rules = [], retry } = useRequest(key, () => client.sessions.listApprovalRules(sessionId));
  const revoke = ({ id }: ApprovalRule) =>
    runWithToast(() => client.sessions.revokeApprovalRule(sessionId, id).finally(retry));
  return <RuleList rules={rules} onRevoke={revoke} />;
}

type RuleListProps = {
  readonly rules: readonly ApprovalRule[];
  readonly onRevoke: (rule: ApprovalRule) => void;
};

export function RuleList({ rules, onRevoke }: RuleListProps): ReactNode {
  if (rules.length === 0) return null;
  return (
    <div className="flex max-h-24 flex-wrap items-center gap-1.5 overflow-y-auto px-1 pb-1.5 text-xs text-warn">
      Always allowed in this session:
      {rules.map((rule) => (
        <button
          key={rule.id}
          type="button"
          aria-label={`Require approval again for ${describeRule(rule)}`}
          title={describeRule(rule)}
          onClick={() => onRevoke(rule)}
          className="inline-flex max-w-full items-center gap-1 rounded-full border border-warn/40 px-2 py-0.5 hover:bg-warn-soft"
        >
          <span className="truncate">
            <span className="font-mono">{escapeInvisible(rule.tool)}</span>{" "}
            {rule.target === undefined ? "with the same arguments" : `for ${escapeInvisible(rule.target)}`}
          </span>
          <X size={11} aria-hidden="true" className="shrink-0" />
        </button>
      ))}
    </div>
  );
}
