import type { PendingCall, Run, Store } from "capstan";
import { addApprovalRule, describeScope, expiredReason } from "capstan/sessions";
import { hasExpired } from "../sessions/has-expired.ts";
import { escapeTerminalLine } from "../terminal/escape-terminal.ts";
import { type AskOptions, askAboutCall, type Decision } from "./ask.ts";

/** Asks the user about each call and denies expired ones. Ends with `stop` when the user stops the run. */
export async function askForDecisions(
  pending: readonly PendingCall[],
  options: AskOptions,
): Promise<readonly Decision[]> {
  const { view } = options;
  const decisions: Decision[] = [];
  for (const call of pending) {
    if (hasExpired(call)) {
      view.print([view.style.dim(`  ${escapeTerminalLine(call.name)} was not called: the request expired.`)]);
      decisions.push({ type: "deny", reason: expiredReason });
      continue;
    }
    const decision = await askAboutCall(call, options);
    const words = formatDecision(decision, call);
    if (words) view.append([view.style.dim(`  ${words}`)]);
    decisions.push(decision);
    if (decision.type === "stop") break;
  }
  return decisions;
}

function formatDecision(decision: Decision, { name, question, always, pattern }: PendingCall): string {
  const scope = decision.type === "always" && decision.covers === "pattern" ? pattern : always;
  if (decision.type === "always" && scope)
    return escapeTerminalLine(`allowed, and from now on ${describeScope(name, scope)}`);
  if (decision.type === "approve" && decision.input !== undefined) return "allowed with your changes";
  if (decision.type === "approve") return question ? "answered" : "allowed";
  if (decision.type !== "deny") return "";
  const why = decision.reason === undefined ? "" : `: ${escapeTerminalLine(decision.reason)}`;
  return `${question ? "declined" : "denied"}${why}`;
}

type DecisionTarget = { readonly run: Run; readonly store: Store; readonly sessionId: string };

/** Sends the decisions to the run; returns true when it was stopped. */
export async function sendDecisions(
  { run, store, sessionId }: DecisionTarget,
  pending: readonly PendingCall[],
  decisions: readonly Decision[],
): Promise<boolean> {
  if (decisions.some(({ type }) => type === "stop")) {
    run.cancel("The user stopped it.");
    return true;
  }
  for (const [index, call] of pending.entries()) {
    const { callId } = call;
    const decision = decisions[index];
    // First, so that the run finds the rule when it continues. A call that expired meanwhile is not approved either.
    if (decision?.type === "always" && !hasExpired(call))
      await addApprovalRule(store, { sessionId, runId: run.id, covers: decision.covers }, call);
    if (decision?.type === "approve" && decision.input !== undefined) run.approveWith(callId, decision.input);
    else if (decision?.type === "approve") run.approve(callId, decision.value);
    else if (decision?.type === "always") run.approve(callId);
    else if (decision?.type === "deny") run.deny(callId, decision.reason);
    else if (decision?.type === "answer") run.answer(callId, decision.value);
  }
  return false;
}
