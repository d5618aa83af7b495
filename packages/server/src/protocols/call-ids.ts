import { AgentError, type PendingCall } from "capstan";

export type RunCall = { readonly runId: string; readonly callId: string };

const callIdPattern = /^(run_[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})-([A-Za-z0-9_-]+)$/;

/**
 * Creates the id of a client-side call. It contains the run, so that the result finds its way back, and only letters,
 * digits, `-` and `_`, because clients also send it to other providers.
 */
export function createClientCallId({ runId, callId }: RunCall): string {
  return `${runId}-${Buffer.from(callId).toString("base64url")}`;
}

/** Parses such an id; undefined for other ids. Ids are not proof of ownership: check the run's owner. */
export function parseCallId(id: string): RunCall | undefined {
  const [, runId, encoded] = callIdPattern.exec(id) ?? [];
  if (runId === undefined || encoded === undefined) return undefined;
  return { runId, callId: Buffer.from(encoded, "base64url").toString() };
}

/** Binds an approval to the digest of what the user was shown. */
export function buildApprovalId({ callId, digest = "" }: Pick<PendingCall, "callId" | "digest">): string {
  return `${callId}:${digest}`;
}

export function createMismatchError(callId: string): AgentError {
  const message = `The digest of call "${callId}" does not match the pending call. Get the run again.`;
  return new AgentError("approval_mismatch", message);
}
