import type { FactBody, UnplacedFact } from "../../kernel/event.ts";
import { defaultPolicy } from "../../kernel/policy.ts";
import { createFactId } from "../../runtime/facts.ts";
import type { Lease, PositionedDelta, RunMessage, Store } from "../../runtime/store.ts";

/** Acquires the lease of a session, which must be free. */
export async function acquireTestLease(
  store: Store,
  sessionId: string,
  owner = "owner",
  ms = 60_000,
): Promise<Lease> {
  const lease = await store.lease(sessionId, owner, ms);
  if (!lease) throw new Error(`no lease on ${sessionId}`);
  return lease;
}

/** A fact of a run. */
export function createFact(sessionId: string, runId: string, body: FactBody, at = 0): UnplacedFact {
  const place = body.type === "warning" ? body.code : "0";
  return {
    ...body,
    id: createFactId(body, { runId, retries: 0 }, place),
    runId,
    sessionId,
    agent: "a",
    turn: 0,
    at,
  };
}

/** A message of the model. */
export function createMessageFact(sessionId: string, runId: string, text: string): UnplacedFact {
  const entry = { type: "assistant", parts: [{ type: "text", text }] } as const;
  const usage = { inputTokens: 0, outputTokens: 0 };
  const body: FactBody = { type: "message", entry, model: "m", usage, ms: 0, stopReason: "end" };
  return {
    ...createFact(sessionId, runId, body),
    id: createFactId(body, { runId, retries: 0 }, text.slice(0, 100)),
  };
}

/** A tool result. */
export function createResultFact(sessionId: string, runId: string, text: string): UnplacedFact {
  const call = { id: "c", name: "t", attempts: 1, ms: 0 };
  return createFact(sessionId, runId, {
    type: "tool_call_result",
    result: text,
    is_error: false,
    status: "ok",
    ...call,
  });
}

/** A suspension. */
export function createWaitingFact(sessionId: string, runId: string, place = "0", at = 0): UnplacedFact {
  const body: FactBody = { type: "waiting", callIds: ["c"] };
  return { ...createFact(sessionId, runId, body, at), id: createFactId(body, { runId, retries: 0 }, place) };
}

/** The end of a run. */
export function createDoneFact(sessionId: string, runId: string, at = 0): UnplacedFact {
  const usage = { inputTokens: 0, outputTokens: 0 };
  return createFact(
    sessionId,
    runId,
    { type: "done", status: "done", text: "", usage, cost: 0, grounded: false },
    at,
  );
}

/** A steering message. */
export function createSteerMessage(key: string): RunMessage {
  return { key, type: "steer", text: "go left" };
}

/** A text delta after the first fact. */
export function createDelta(sessionId: string, text: string): PositionedDelta {
  const origin = { runId: "r1", sessionId, agent: "a", turn: 1 };
  return { after: 1, delta: { type: "content_delta", delta: text, ...origin } };
}

export const delay = (ms: number): Promise<unknown> => new Promise((resolve) => setTimeout(resolve, ms));

/** The start of a run. */
export function createStartFact(sessionId: string, runId: string, at = 0): UnplacedFact {
  return createFact(
    sessionId,
    runId,
    { type: "run_start", input: [], policy: defaultPolicy, timeZone: "UTC" },
    at,
  );
}

/** A warning with its own code. */
export function createWarningFact(sessionId: string, runId: string, code: string, at = 0): UnplacedFact {
  return createFact(sessionId, runId, { type: "warning", code, message: "" }, at);
}
