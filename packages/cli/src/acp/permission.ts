import type { PermissionOption, RequestPermissionRequest } from "@agentclientprotocol/sdk";
import { escapeInvisible, type PendingCall } from "capstan";
import { describeScope } from "capstan/sessions";
import {
  buildCallContent,
  buildProposedChanges,
  findLocations,
  formatCallTitle,
  getToolKind,
  quoteText,
} from "./call-shape.ts";

/** Decision on a call. */
export type Decision = "allow" | "always" | "pattern" | "reject" | "stop";

/** Whether the editor can ask it. Editors cannot show a question with a form. */
export function canAskEditor({ needs, question }: PendingCall): boolean {
  return needs === "approval" && question?.schema === undefined;
}

/** Builds the permission request for one call. The answer applies to this call only. */
export function buildPermissionRequest(
  call: PendingCall,
  { sessionId, cwd }: { readonly sessionId: string; readonly cwd: string },
): RequestPermissionRequest {
  const { callId, name, input, shown, agent, ui } = call;
  return {
    sessionId,
    toolCall: {
      ...{
        toolCallId: callId,
        title: formatCallTitle(name, input, agent),
        kind: getToolKind(name),
        status: "pending",
      },
      rawInput: input,
      locations: findLocations(input, cwd),
      content: [
        { type: "content", content: { type: "text", text: escapeMarkdown(formatReason(call)) } },
        // The full, escaped input: the user approves exactly this.
        quoteText(shown),
        ...(ui ? buildCallContent([], ui, cwd) : buildProposedChanges(name, input, cwd)),
      ],
    },
    options: getOptions(call),
  };
}

function getOptions(call: PendingCall): PermissionOption[] {
  const [yes, no] = call.question ? ["Yes", "No"] : ["Allow", "Reject"];
  const offerAlways = (optionId: "always" | "pattern"): PermissionOption[] => {
    const scope = call[optionId];
    const name = scope && `Always allow in this session: ${describeScope(call.name, scope)}`;
    return name === undefined ? [] : [{ optionId, name, kind: "allow_always" }];
  };
  return [
    { optionId: "allow", name: yes ?? "", kind: "allow_once" },
    ...offerAlways("always"),
    ...offerAlways("pattern"),
    { optionId: "reject", name: no ?? "", kind: "reject_once" },
  ];
}

/** Converts the chosen option; an option that was not offered counts as reject. */
export function toDecision(optionId: string, call: PendingCall): Decision {
  const isOffered = getOptions(call).some((option) => option.optionId === optionId);
  const isAllowed = optionId === "allow" || optionId === "always" || optionId === "pattern";
  return isOffered && isAllowed ? optionId : "reject";
}

function formatReason({ question, reason }: PendingCall): string {
  if (!question) return reason;
  return [question.message, question.url].filter((words) => words !== undefined).join("\n");
}

/** Escapes Markdown: the text may come from a tool and must not render links or images. */
function escapeMarkdown(text: string): string {
  return text
    .split("\n")
    .map(escapeInvisible)
    .join("\n")
    .replace(/[\\`*_[\]()<>!#|~]/g, "\\$&");
}
