import { AgentError, type PendingCall } from "capstan";

/** A call of a run, as a client is told of it. */
export type RunCall = { readonly runId: string; readonly callId: string };

const form = /^(run_[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})-([A-Za-z0-9_-]+)$/;

/**
 * The id of a call that a client is to run. It carries the run, so that the result finds its way back, and has only
 * letters, digits, `-` and `_`, because clients send it to other providers too.
 */
export function clientCallId({ runId, callId }: RunCall): string {
  return `${runId}-${Buffer.from(callId).toString("base64url")}`;
}

/** What such an id says; nothing for one that was not made here. It proves nothing: whoever uses it checks whose run it is. */
export function readCallId(id: string): RunCall | undefined {
  const [, runId, encoded] = form.exec(id) ?? [];
  if (runId === undefined || encoded === undefined) return undefined;
  return { runId, callId: Buffer.from(encoded, "base64url").toString() };
}

/** What a person is asked, by a name that holds only for what was shown. */
export function approvalId({ callId, digest = "" }: Pick<PendingCall, "callId" | "digest">): string {
  return `${callId}:${digest}`;
}

/** For an answer to something else than what is asked. */
export function approvalMismatch(callId: string): AgentError {
  const message = `What you were shown of the call "${callId}" is not what it asks for: look at it again.`;
  return new AgentError("approval_mismatch", message);
}
