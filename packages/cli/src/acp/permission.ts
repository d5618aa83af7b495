import type { PermissionOption, RequestPermissionRequest } from "@agentclientprotocol/sdk";
import { escapeInvisible, type PendingCall } from "capstan";
import { describeScope } from "capstan/sessions";
import {
  buildProposedChanges,
  findLocations,
  formatCallTitle,
  getToolKind,
  quoteText,
} from "./call-shape.ts";

/** Decision on a call. */
export type Decision = "allow" | "always" | "reject" | "stop";

/** Whether the editor can ask it. Editors cannot show a question with a form. */
export function canAskEditor({ needs, question }: PendingCall): boolean {
  return needs === "approval" && question?.schema === undefined;
}

/** Builds the permission request for one call. The answer applies to this call only. */
export function buildPermissionRequest(
  call: PendingCall,
  { sessionId, cwd }: { readonly sessionId: string; readonly cwd: string },
): RequestPermissionRequest {
  const { callId, name, input, shown, agent } = call;
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
        ...buildProposedChanges(name, input, cwd),
      ],
    },
    options: getOptions(call),
  };
}

function getOptions(call: PendingCall): PermissionOption[] {
  const [yes, no] = call.question ? ["Yes", "No"] : ["Allow", "Reject"];
  const always = call.always && describeScope(call.name, call.always);
  const allowAlways: PermissionOption = {
    optionId: "always",
    name: `Always allow in this session: ${always}`,
    kind: "allow_always",
  };
  return [
    { optionId: "allow", name: yes ?? "", kind: "allow_once" },
    ...(always === undefined ? [] : [allowAlways]),
    { optionId: "reject", name: no ?? "", kind: "reject_once" },
  ];
}

/** Converts the chosen option; an option that was not offered counts as reject. */
export function toDecision(optionId: string, call: PendingCall): Decision {
  const isOffered = getOptions(call).some((option) => option.optionId === optionId);
  return isOffered && (optionId === "allow" || optionId === "always") ? optionId : "reject";
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
