import type { PermissionOption, RequestPermissionRequest } from "@agentclientprotocol/sdk";
import { escapeInvisible, type PendingCall } from "capstan";
import { kindOf, locationsOf, proposedChanges, quoted, titleOf } from "./call-shape.ts";

/** What was decided about a call. */
export type Decision = "allow" | "always" | "reject" | "stop";

/** What the safety gate asks, and what a tool wants to know, is asked each time. */
export function isPlainApproval({ needs, question, because }: PendingCall): boolean {
  return needs === "approval" && !question && !because?.length;
}

/** Whether an editor can ask it: a question with a form of its own it cannot. */
export function canBeAsked({ needs, question }: PendingCall): boolean {
  return needs === "approval" && question?.schema === undefined;
}

/** The question about one call. The answer holds for this call alone, whatever it is called. */
export function permissionRequest(
  call: PendingCall,
  { sessionId, cwd }: { readonly sessionId: string; readonly cwd: string },
): RequestPermissionRequest {
  const { callId, name, input, shown, agent } = call;
  return {
    sessionId,
    toolCall: {
      ...{ toolCallId: callId, title: titleOf(name, input, agent), kind: kindOf(name), status: "pending" },
      rawInput: input,
      locations: locationsOf(input, cwd),
      content: [
        { type: "content", content: { type: "text", text: plainWords(reasonOf(call)) } },
        // All of it and visible: what is agreed to is what there is.
        quoted(shown),
        ...proposedChanges(name, input, cwd),
      ],
    },
    options: optionsFor(call),
  };
}

function optionsFor(call: PendingCall): PermissionOption[] {
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
export function decisionOf(optionId: string, call: PendingCall): Decision {
  const isOffered = optionsFor(call).some((option) => option.optionId === optionId);
  return isOffered && (optionId === "allow" || optionId === "always") ? optionId : "reject";
}

function reasonOf({ question, reason, because = [] }: PendingCall): string {
  if (question) return [question.message, question.url].filter((words) => words !== undefined).join("\n");
  const sources = because.map(({ tool }) => tool).join(", ");
  return sources === "" ? reason : `${reason} (because of what was read with ${sources})`;
}

/** A tool may have chosen the words: nothing in them is drawn as a link or a picture. */
function plainWords(text: string): string {
  return text
    .split("\n")
    .map(escapeInvisible)
    .join("\n")
    .replace(/[\\`*_[\]()<>!#|~]/g, "\\$&");
}
