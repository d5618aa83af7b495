import {
  type ApprovalRule,
  describeRule,
  formatCount,
  listApprovalRules,
  revokeApprovalRule,
} from "capstan/sessions";
import type { Io } from "../../io.ts";
import { formatAge } from "../../output/format-age.ts";
import { formatJson } from "../../output/format-json.ts";
import { type Column, formatTable } from "../../output/format-table.ts";
import { findSession } from "../../sessions/find-session.ts";
import { withStore } from "../../sessions/read-store.ts";
import type { WorkspaceFlags } from "../../workspace/workspace.ts";

type Flags = WorkspaceFlags & { readonly json?: boolean; readonly revoke?: string };

const columns: readonly Column<ApprovalRule>[] = [
  { name: "RULE", value: ({ id }) => id },
  { name: "ALWAYS ALLOWED", value: describeRule, shrinks: true },
  { name: "ADDED", value: ({ createdAt }) => formatAge(createdAt) },
];

/** `sessions approvals`. */
export async function showApprovalRules(beginning: string, flags: Flags, io: Io): Promise<void> {
  await withStore(flags, io, async ({ store }) => {
    const sessionId = await findSession(store, beginning);
    const rules = await listApprovalRules(store, sessionId);
    if (flags.revoke !== undefined) {
      const revoked = flags.revoke === "all" ? rules.map(({ id }) => id) : [flags.revoke];
      for (const id of revoked) await revokeApprovalRule(store, sessionId, id);
      io.stderr.write(`Revoked ${revoked.length} of ${formatCount(rules.length, "rule")}.\n`);
      return;
    }
    if (flags.json) io.stdout.write(formatJson(rules));
    else if (rules.length === 0) io.stderr.write("No calls are always allowed in this session.\n");
    else io.stdout.write(formatTable(rules, columns, io));
  });
}
