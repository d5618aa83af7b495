import { describeRule, listApprovalRules, revokeApprovalRule } from "capstan/sessions";
import { formatAge } from "../output/format-age.ts";
import { escapeTerminalLine } from "../terminal/escape-terminal.ts";
import { printTable } from "./print-table.ts";
import type { CommandContext } from "./slash-commands.ts";

/** `/approvals`: lists the calls that are always allowed in the session, or revokes one by its number. */
export async function showApprovals(context: CommandContext, argument: string): Promise<void> {
  const { chatState, view, transcript } = context;
  const { store } = chatState.workspace;
  const { sessionId } = chatState;
  const rules = sessionId === undefined ? [] : await listApprovalRules(store, sessionId);
  const number = /^revoke\s+(\d+)$/.exec(argument)?.[1];
  const rule = rules[Number(number) - 1];
  if (rule && sessionId !== undefined) {
    await revokeApprovalRule(store, sessionId, rule.id);
    transcript.showNotice(`Revoked: ${describeRule(rule)}.`);
  } else if (argument !== "")
    transcript.showNotice(
      "No such rule. /approvals lists them, /approvals revoke 1 revokes the first.",
      "yellow",
    );
  else if (rules.length === 0) transcript.showNotice("No calls are always allowed in this session.");
  else
    printTable(
      view,
      "Always allowed in this session (/approvals revoke 1 revokes the first)",
      rules.map((listed, index) => [
        `${index + 1} ${escapeTerminalLine(listed.tool)}`,
        escapeTerminalLine(`${describeRule(listed)} (${formatAge(listed.createdAt)})`),
      ]),
    );
}
