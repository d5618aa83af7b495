import { isDeepStrictEqual } from "node:util";
import { AgentError, type Fact, type RunMessage } from "capstan";
import { isInRun } from "capstan/sessions";
import type { Caller } from "../access/caller.ts";
import type { Deployment } from "../deployment.ts";
import { otherRequest, rememberAsked, wasAsked } from "./idempotency.ts";

/** What can be said to a run. */
export type Message = RunMessage extends infer Each
  ? Each extends RunMessage
    ? Omit<Each, "key">
    : never
  : never;

/** Who tells which run, and under which `Idempotency-Key`, if any. */
export type Telling = {
  readonly caller: Caller;
  readonly runId: string;
  readonly key?: string | undefined;
};

/**
 * Tells a run something once. What the run would not heed is refused here, where somebody can still be told: an answer
 * that the question does not allow, a call that waits for something else, a second answer that contradicts the first.
 * Throws `rate_limited` when it would go on and the caller has no place for another run, or has used up the day.
 */
export async function tellRun(
  deployment: Deployment,
  { caller, runId, key }: Telling,
  said: Message,
): Promise<void> {
  const { store, engine } = deployment;
  const message = { ...said, key: key ?? crypto.randomUUID() } as RunMessage;
  const sessionId = (await store.findSession(runId)) ?? "";
  const place = { caller, runId, sessionId };
  const asked = { sessionId, id: message.key, request: { ...said, runId } };
  const isKnown = await isSaid(deployment, place, message);
  if (key !== undefined && (await wasAsked(store, asked))) return;
  if (!isKnown) {
    await engine.checkMessage(runId, message);
    const { facts: position = 0 } = (await store.getSession(sessionId)) ?? {};
    const tell = () => engine.send(runId, message);
    await (message.type === "cancel" ? tell() : goingOn(deployment, place, tell));
    // The key was heard before, with other words.
    if (message.type === "steer" && !(await isHeard(deployment, { ...place, position }, message)))
      throw otherRequest();
  }
  if (key !== undefined) await rememberAsked(store, asked);
}

type Place = { readonly runId: string; readonly sessionId: string };

/** Whether the run was told this already. Throws when it was told something else under the key, or about the call. */
async function isSaid(
  { store }: Deployment,
  { runId, sessionId }: Place,
  message: RunMessage,
): Promise<boolean> {
  const { key, ...said } = message;
  for (const { key: earlier, ...unheard } of await store.listMessages(runId)) {
    const isSame = isDeepStrictEqual(unheard, said);
    if (earlier === key && !isSame) throw otherRequest();
    if (earlier === key) return true;
    if (!("callId" in said) || !("callId" in unheard) || said.callId !== unheard.callId) continue;
    if (isSame) return true;
    throw answered(said.callId);
  }
  const facts = (await store.read(sessionId)).filter((fact) => isInRun(fact, runId));
  if (message.type === "cancel") return facts.some((fact) => fact.type === "cancel_requested");
  return "callId" in message && isSettled(facts, message);
}

type Answer = Extract<RunMessage, { readonly callId: string }>;

/** Whether the log has this answer to the call. Throws when it has another one. */
function isSettled(facts: readonly Fact[], message: Answer): boolean {
  const { callId } = message;
  if (message.type === "result") {
    const result = facts.find((fact) => fact.type === "tool_call_result" && fact.id === callId);
    if (result?.type !== "tool_call_result") return false;
    if (isOtherResult(result, message.value)) throw answered(callId);
    return true;
  }
  // Of a call that asks again, the last question counts.
  const last = facts.findLast((fact) => isOfApproval(fact) && fact.callId === callId);
  if (last?.type !== "approval_resolved") return false;
  if (isOtherDecision(last, message)) throw answered(callId);
  return true;
}

function isOfApproval(fact: Fact): fact is Resolved | Extract<Fact, { readonly type: "approval_required" }> {
  return fact.type === "approval_required" || fact.type === "approval_resolved";
}

type Resolved = Extract<Fact, { readonly type: "approval_resolved" }>;

function isOtherDecision(fact: Resolved, message: Exclude<Answer, { readonly type: "result" }>): boolean {
  if (fact.approved !== (message.type === "approve")) return true;
  return message.type === "approve" && !isDeepStrictEqual(fact.value ?? null, message.value ?? null);
}

/** As far as the log can tell: it has a text as the content, another value as the data, and cuts what is too large. */
function isOtherResult(fact: Extract<Fact, { readonly type: "tool_call_result" }>, value: unknown): boolean {
  if (fact.handle !== undefined) return false;
  if (typeof value === "string") return fact.result !== value.toWellFormed();
  const inside: unknown = Reflect.get(Object(value), "data");
  return fact.data !== undefined && ![value, inside].some((one) => isDeepStrictEqual(fact.data, one));
}

type Steered = Extract<RunMessage, { readonly type: "steer" }>;

async function isHeard(
  { store }: Deployment,
  { runId, sessionId, position }: Place & { readonly position: number },
  { key, text }: Steered,
): Promise<boolean> {
  if ((await store.listMessages(runId)).some((unheard) => unheard.key === key)) return true;
  const isSteered = (fact: Fact) => fact.runId === runId && fact.type === "steered";
  const facts = await store.read(sessionId);
  return facts.some(
    (fact) =>
      isSteered(fact) && (fact.seq > position || (fact.type === "steered" && fact.entry.content === text)),
  );
}

function answered(callId: string): AgentError {
  return new AgentError("approval_conflict", `The call "${callId}" was answered already, and otherwise.`);
}

type Rested = { readonly caller: Caller; readonly runId: string; readonly sessionId: string };

/**
 * Tells something to a run, as `tell` does. One that is at rest goes on then, so it needs what a new run needs: something
 * that is left of the caller's day, and a place among the caller's runs. Throws `rate_limited`, and nothing is told.
 */
export async function goingOn<Told>(
  { store, atWork, spending }: Deployment,
  { caller, runId, sessionId }: Rested,
  tell: () => Promise<Told>,
): Promise<Told> {
  const run = (await store.listRuns(sessionId)).find((one) => one.runId === runId);
  const isTold = (await store.listMessages(runId)).length > 0;
  if (run?.state !== "waiting" || isTold) return tell();
  await spending.within(caller, {});
  if (atWork.has(sessionId)) return tell();
  const expected = atWork.expect(caller, sessionId);
  try {
    const told = await tell();
    // Another process goes on with it, or nobody does.
    if (!expected.isTakenUp()) expected.release();
    return told;
  } catch (thrown) {
    expected.release();
    throw thrown;
  }
}
