import type { RunCall } from "../call-ids.ts";

/*
 * A run that waits and goes on is several responses: one for each of its legs, which are counted from 1. All ids are made
 * from that of the run. They prove nothing: whoever uses them checks whose run it is.
 */

/** One leg of a run: from its start, or from answers that it was given, to its end or to the next wait. */
export type RunLeg = { readonly runId: string; readonly leg: number };

const responseForm = /^resp_([1-9]\d{0,5})_(.+)$/;

/** The id of the response. */
export function responseId({ runId, leg }: RunLeg): string {
  return `resp_${leg}_${runId}`;
}

/** Whatever is no such id is taken for that of a run. */
export function readResponseId(id: string): RunLeg {
  const [, leg, runId] = responseForm.exec(id) ?? [];
  return runId === undefined ? { runId: id, leg: 1 } : { runId, leg: Number(leg) };
}

/** What a person is asked to allow: of which run, and bound to what they were shown. */
export type ApprovalAsked = RunCall & { readonly digest: string };

const digestLength = 32;
const approvalForm = /^mcpr_([0-9a-f]{32})_([0-9a-f]+)_(.+)$/;

/** The id of such a request. */
export function approvalRequestId({ runId, callId, digest }: ApprovalAsked): string {
  return `mcpr_${digest.slice(0, digestLength)}_${Buffer.from(callId).toString("hex")}_${runId}`;
}

/** What such an id says; of the digest only its beginning. */
export function readApprovalRequestId(id: string): ApprovalAsked | undefined {
  const [, digest, hex, runId] = approvalForm.exec(id) ?? [];
  if (digest === undefined || hex === undefined || runId === undefined) return undefined;
  return { runId, digest, callId: Buffer.from(hex, "hex").toString() };
}

const functionForm = /^(run_(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[\w-]{43}))-([\w-]+)$/;

/** The call that a client has run, by the id that `clientCallId` makes. */
export function readFunctionCallId(id: string): RunCall | undefined {
  const [, runId, encoded] = functionForm.exec(id) ?? [];
  if (runId === undefined || encoded === undefined) return undefined;
  return { runId, callId: Buffer.from(encoded, "base64url").toString() };
}
