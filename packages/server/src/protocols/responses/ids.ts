import type { RunCall } from "../call-ids.ts";

/*
 * A run that suspends and resumes is several responses: one per segment, counted from 1. All ids derive from the
 * run's id. They are not proof of ownership: check the run's owner.
 */

/** Part of a run: from its start or from answers, to its end or its next suspension. */
export type RunSegment = { readonly runId: string; readonly segment: number };

const responseIdPattern = /^resp_([1-9]\d{0,5})_(.+)$/;

export function formatResponseId({ runId, segment }: RunSegment): string {
  return `resp_${segment}_${runId}`;
}

/** Any other id is treated as a run id. */
export function parseResponseId(id: string): RunSegment {
  const [, segment, runId] = responseIdPattern.exec(id) ?? [];
  return runId === undefined ? { runId: id, segment: 1 } : { runId, segment: Number(segment) };
}

/** A call that needs approval, bound to what the user was shown. */
export type ApprovalTarget = RunCall & { readonly digest: string };

const digestLength = 32;
const approvalIdPattern = /^mcpr_([0-9a-f]{32})_([0-9a-f]+)_(.+)$/;

export function formatApprovalRequestId({ runId, callId, digest }: ApprovalTarget): string {
  return `mcpr_${digest.slice(0, digestLength)}_${Buffer.from(callId).toString("hex")}_${runId}`;
}

/** Parses such an id; it contains a prefix of the digest. */
export function parseApprovalRequestId(id: string): ApprovalTarget | undefined {
  const [, digest, hex, runId] = approvalIdPattern.exec(id) ?? [];
  if (digest === undefined || hex === undefined || runId === undefined) return undefined;
  return { runId, digest, callId: Buffer.from(hex, "hex").toString() };
}

const functionIdPattern = /^(run_(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[\w-]{43}))-([\w-]+)$/;

/** Parses an id created by `createClientCallId`. */
export function parseFunctionCallId(id: string): RunCall | undefined {
  const [, runId, encoded] = functionIdPattern.exec(id) ?? [];
  if (runId === undefined || encoded === undefined) return undefined;
  return { runId, callId: Buffer.from(encoded, "base64url").toString() };
}
