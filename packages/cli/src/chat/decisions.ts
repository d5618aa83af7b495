import type { PendingCall, Run } from "capstan";
import { escapeTerminalLine } from "../terminal/escape-terminal.ts";
import { askAboutCall, type Decision } from "./ask.ts";
import type { View } from "./view.ts";

export type DecideOptions = {
  readonly view: View;
  /** Tools that are always allowed. */
  readonly allowed: Set<string>;
  lastKeyAt(): number;
};

/** Asks the user about each call, except for tools that are always allowed. Ends with `stop` when the user stops the run. */
export async function askForDecisions(
  pending: readonly PendingCall[],
  { view, allowed, lastKeyAt }: DecideOptions,
): Promise<readonly Decision[]> {
  const decisions: Decision[] = [];
  for (const call of pending) {
    if (allowed.has(call.name) && isPlainApproval(call)) {
      decisions.push({ type: "approve" });
      continue;
    }
    const decision = await askAboutCall(view, call, lastKeyAt);
    if (decision.type === "always") allowed.add(call.name);
    const words = formatDecision(decision, call);
    if (words) view.append([view.style.dim(`  ${words}`)]);
    decisions.push(decision);
    if (decision.type === "stop") break;
  }
  return decisions;
}

/** False for questions of tools and of the safety gate, which always need an answer. */
function isPlainApproval({ needs, question, because }: PendingCall): boolean {
  return needs === "approval" && !question && !because?.length;
}

function formatDecision(decision: Decision, { name, question }: PendingCall): string {
  if (decision.type === "always")
    return `allowed; ${escapeTerminalLine(name)} is always allowed in this session`;
  if (decision.type === "approve") return question ? "answered" : "allowed";
  if (decision.type !== "deny") return "";
  const why = decision.reason === undefined ? "" : `: ${escapeTerminalLine(decision.reason)}`;
  return `${question ? "declined" : "denied"}${why}`;
}

/** Sends the decisions to the run; returns true when it was stopped. */
export function sendDecisions(
  run: Run,
  pending: readonly PendingCall[],
  decisions: readonly Decision[],
): boolean {
  if (decisions.some(({ type }) => type === "stop")) {
    run.cancel("The user stopped it.");
    return true;
  }
  for (const [index, { callId }] of pending.entries()) {
    const decision = decisions[index];
    if (decision?.type === "approve") run.approve(callId, decision.value);
    else if (decision?.type === "always") run.approve(callId);
    else if (decision?.type === "deny") run.deny(callId, decision.reason);
    else if (decision?.type === "answer") run.answer(callId, decision.value);
  }
  return false;
}
