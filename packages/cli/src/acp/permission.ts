import type { PermissionOption, RequestPermissionRequest } from "@agentclientprotocol/sdk";
import { escapeInvisible, type PendingCall } from "capstan";
import {
  buildProposedChanges,
  findLocations,
  formatCallTitle,
  getToolKind,
  quoteText,
} from "./call-shape.ts";

/** What was decided about a call. */
export type Decision = "allow" | "always" | "reject" | "stop";

/** What the safety gate asks, and what a tool wants to know, is asked each time. */
export function isPlainApproval({ needs, question, because }: PendingCall): boolean {
  return needs === "approval" && !question && !because?.length;
}

/** Whether an editor can ask it: a question with a form of its own it cannot. */
export function canAskEditor({ needs, question }: PendingCall): boolean {
  return needs === "approval" && question?.schema === undefined;
}

/** The question about one call. The answer holds for this call alone, whatever it is called. */
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
        // All of it and visible: what is agreed to is what there is.
        quoteText(shown),
        ...buildProposedChanges(name, input, cwd),
      ],
    },
    options: getOptions(call),
  };
}

function getOptions(call: PendingCall): PermissionOption[] {
  const [yes, no] = call.question ? ["Yes", "No"] : ["Allow", "Reject"];
  const always: PermissionOption = {
    optionId: "always",
    name: `Always allow ${escapeInvisible(call.name)} in this session`,
    kind: "allow_always",
  };
  return [
    { optionId: "allow", name: yes ?? "", kind: "allow_once" },
    ...(isPlainApproval(call) ? [always] : []),
    { optionId: "reject", name: no ?? "", kind: "reject_once" },
  ];
}

/** What the chosen option means; one that was not offered is a no. */
export function toDecision(optionId: string, call: PendingCall): Decision {
  const isOffered = getOptions(call).some((option) => option.optionId === optionId);
  return isOffered && (optionId === "allow" || optionId === "always") ? optionId : "reject";
}

function formatReason({ question, reason, because = [] }: PendingCall): string {
  if (question) return [question.message, question.url].filter((words) => words !== undefined).join("\n");
  const sources = because.map(({ tool }) => tool).join(", ");
  return sources === "" ? reason : `${reason} (because of what was read with ${sources})`;
}

/** A tool may have chosen the words: nothing in them is drawn as a link or a picture. */
function escapeMarkdown(text: string): string {
  return text
    .split("\n")
    .map(escapeInvisible)
    .join("\n")
    .replace(/[\\`*_[\]()<>!#|~]/g, "\\$&");
}
