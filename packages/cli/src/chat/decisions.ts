import type { PendingCall, Run } from "capstan";
import { escapeTerminalLine } from "../terminal/escape-terminal.ts";
import { askAboutCall, type Decision } from "./ask.ts";
import type { View } from "./view.ts";

export type DecideOptions = {
  readonly view: View;
  /** Tools whose calls need not be asked for again. */
  readonly allowed: Set<string>;
  lastKeyAt(): number;
};

/** Asks the person about each call; what they always allow is not asked for. Ends with `stop` when they stop the run. */
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

/** What the safety gate asks, and what a tool wants to know, is asked each time. */
function isPlainApproval({ needs, question, because }: PendingCall): boolean {
  return needs === "approval" && !question && !because?.length;
}

function formatDecision(decision: Decision, { name, question }: PendingCall): string {
  if (decision.type === "always")
    return `allowed, and ${escapeTerminalLine(name)} is not asked for again in this session`;
  if (decision.type === "approve") return question ? "answered" : "allowed";
  if (decision.type !== "deny") return "";
  const why = decision.reason === undefined ? "" : `: ${escapeTerminalLine(decision.reason)}`;
  return `${question ? "declined" : "denied"}${why}`;
}

/** Tells the run what was decided; gives whether it is to stop. */
export function sendDecisions(
  run: Run,
  pending: readonly PendingCall[],
  decisions: readonly Decision[],
): boolean {
  if (decisions.some(({ type }) => type === "stop")) {
    run.cancel("The person stopped it.");
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
