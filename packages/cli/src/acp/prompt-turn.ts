import type {
  RequestPermissionOutcome,
  RequestPermissionRequest,
  SessionUpdate,
  StopReason,
} from "@agentclientprotocol/sdk";
import { AgentError, isFact, type PendingCall, type Result, type Run, type RunInput } from "capstan";
import { addApprovalRule, expiredReason } from "capstan/sessions";
import { isAgentError } from "../errors/format-error.ts";
import { findFailedRun, findUnfinishedRun } from "../sessions/find-session.ts";
import { hasExpired } from "../sessions/has-expired.ts";
import { waitForWake } from "../sessions/wait-for-wake.ts";
import { isCompactCommand, isRetryCommand } from "./commands.ts";
import type { AcpSession } from "./open-session.ts";
import { buildPermissionRequest, canAskEditor, type Decision, toDecision } from "./permission.ts";
import { toStopReason } from "./session-updates.ts";

/** The editor. */
export interface Editor {
  update(sessionId: string, update: SessionUpdate): Promise<void>;
  /** Rejects when the signal aborts before the answer, and when the editor cannot ask. */
  ask(request: RequestPermissionRequest, signal: AbortSignal): Promise<RequestPermissionOutcome>;
}

/** Wraps the run, which is thenable and would otherwise be awaited. */
type PromptTurn = {
  run: Run;
  readonly stopSignal: AbortSignal;
  readonly session: AcpSession;
  readonly editor: Editor;
};

/** Sends a prompt and follows its run to the end, asking for permissions on the way. */
export async function runPromptTurn(
  session: AcpSession,
  input: RunInput,
  editor: Editor,
): Promise<StopReason> {
  await waitForTurn(session);
  const stopping = new AbortController();
  const stopped = stopping.signal;
  const ended = Promise.withResolvers<void>();
  session.turn = stopping;
  session.turnEnd = ended.promise;
  try {
    const begun = await startPromptRun(session, input, stopped);
    if (begun === undefined) return "cancelled";
    const turn: PromptTurn = { ...begun, stopSignal: stopped, session, editor };
    const stop = () => void turn.run.cancel("The user stopped it.");
    if (stopped.aborted) stop();
    else stopped.addEventListener("abort", stop);
    return getStopReason(await followRun(turn));
  } finally {
    session.turn = undefined;
    ended.resolve();
  }
}

/** Waits for earlier prompts. Throws `session_busy` or stops the current one if the agent's policy requires it. */
async function waitForTurn(session: AcpSession): Promise<void> {
  const { onBusy } = session.agent.policy ?? {};
  if (session.turn && onBusy === "reject") {
    const message = "A prompt is already running in this session. Wait for it, or cancel it.";
    throw new AgentError("session_busy", message);
  }
  if (onBusy === "interrupt") session.turn?.abort();
  while (session.turn) await session.turnEnd;
}

/** Steers the session's unfinished run, or else starts a new run. */
async function startPromptRun(
  { id, workspace, agent, effort }: AcpSession,
  input: RunInput,
  stopped: AbortSignal,
): Promise<{ readonly run: Run } | undefined> {
  const { engine, agents } = workspace;
  const given = { session: id, ...(effort !== undefined && { settings: { effort } }) };
  const unfinished = await findUnfinishedRun(workspace, id);
  if (stopped.aborted) return undefined;
  if (!unfinished && isRetryCommand(input))
    return { run: engine.open((await findFailedRun(workspace, id)).runId).retry() };
  if (!unfinished && isCompactCommand(input))
    return { run: engine.run(agent, [], { session: id, compact: true }) };
  if (!unfinished) return { run: engine.run(agent, input, given) };
  if (!agents.some(({ name }) => name === unfinished.agent)) {
    const message = `This session has an unfinished run of agent "${unfinished.agent}", which is not configured here.`;
    throw new AgentError("unknown_agent", message);
  }
  if (typeof input !== "string") {
    const message = "An unfinished run accepts only text. Remove images and resources.";
    throw new AgentError("invalid_input", message);
  }
  return { run: engine.open(unfinished.runId).steer(input) };
}

async function followRun(turn: PromptTurn): Promise<Result> {
  for (;;) {
    await sendUpdates(turn);
    const result = await turn.run;
    if (result.status !== "waiting") return result;
    if (turn.stopSignal.aborted || result.pending.length === 0) {
      const { workspace, lastSeq } = turn.session;
      await waitForWake(workspace, { runId: turn.run.id, after: lastSeq });
      turn.run = workspace.engine.open(turn.run.id);
    } else await decideCalls(turn, result.pending);
  }
}

async function sendUpdates(turn: PromptTurn): Promise<void> {
  const { session, editor } = turn;
  for await (const event of turn.run) {
    if (isFact(event) && event.seq <= session.lastSeq) continue;
    if (isFact(event)) session.lastSeq = event.seq;
    for (const update of session.updates.fromEvent(event)) await editor.update(session.id, update);
  }
}

/** Asks about all calls before sending any decision, so that stopping midway allows nothing. */
async function decideCalls(turn: PromptTurn, pending: readonly PendingCall[]): Promise<void> {
  const { session } = turn;
  const decisions: Decision[] = [];
  for (const call of pending) {
    const decision = await requestDecision(turn, call);
    if (decision === "stop") {
      session.turn?.abort();
      return;
    }
    decisions.push(decision);
  }
  if (turn.stopSignal.aborted) return;
  for (const [index, call] of pending.entries()) {
    const decision = decisions[index] ?? "reject";
    if ((decision === "always" || decision === "pattern") && !hasExpired(call))
      await addApprovalRule(
        session.workspace.store,
        {
          sessionId: session.id,
          runId: turn.run.id,
          covers: decision === "always" ? "call" : "pattern",
        },
        call,
      );
    sendDecision(turn.run, call, decision);
  }
}

async function requestDecision(
  { session, editor, stopSignal: stopped }: PromptTurn,
  call: PendingCall,
): Promise<Decision> {
  if (!canAskEditor(call) || hasExpired(call)) return "reject";
  try {
    const request = buildPermissionRequest(call, { sessionId: session.id, cwd: session.cwd });
    const outcome = await editor.ask(request, stopped);
    return outcome.outcome === "selected" ? toDecision(outcome.optionId, call) : "stop";
  } catch (error) {
    if (stopped.aborted) return "stop";
    throw error; // no decision: the call stays pending
  }
}

function sendDecision(run: Run, call: PendingCall, decision: Decision): void {
  const { callId, needs } = call;
  try {
    if (needs === "answer") run.answer(callId, { error: "An editor cannot run this tool." });
    else if (decision === "allow" || decision === "always" || decision === "pattern") run.approve(callId);
    else run.deny(callId, getDenyReason(call));
  } catch (error) {
    // Another client has decided already, in a terminal or a browser, or the user was too slow.
    if (!isAgentError(error) || !lateCodes.includes(error.code)) throw error;
  }
}

const lateCodes: readonly string[] = ["approval_conflict", "approval_expired", "unknown_call", "run_ended"];

function getDenyReason(call: PendingCall): string {
  if (hasExpired(call)) return expiredReason;
  return canAskEditor(call) ? "The user rejected it." : "This editor cannot show the question.";
}

function getStopReason(result: Result): StopReason {
  const reason = toStopReason(result);
  if (reason !== undefined) return reason;
  result.orThrow();
  return "end_turn";
}
