import { AgentError, type PendingCall } from "capstan";

/** What a person is asked, by a name that holds only for what was shown. */
export function approvalId({ callId, digest = "" }: Pick<PendingCall, "callId" | "digest">): string {
  return `${callId}:${digest}`;
}

/** For an answer to something else than what is asked. */
export function approvalMismatch(callId: string): AgentError {
  const message = `What you were shown of the call "${callId}" is not what it asks for: look at it again.`;
  return new AgentError("approval_mismatch", message);
}
