import type { Json, PendingCall, Run, RunMessage } from "capstan";
import { describeThrown, indexAgents, listPendingCalls } from "capstan/internal/verification";
import type { AuditedStore } from "./audited-store.ts";
import type { Fleet, FleetMember } from "./fleet.ts";
import type { PlannedRun } from "./plan.ts";
import type { World } from "./world.ts";

/** Simulated users: start runs, send messages, and answer pending calls. */
export interface SimulatedUsers {
  start(run: PlannedRun): void;
  sendRandomMessages(run: PlannedRun): void;
  answerPendingCalls(run: PlannedRun): void;
  /** Retries the run whenever it has failed because of its model. */
  retryFailures(run: PlannedRun): void;
  /** Whether the run has ended and is not going to be retried. */
  isFinished(run: PlannedRun): boolean;
}

type UserContext = { readonly world: World; readonly fleet: Fleet; readonly audited: AuditedStore };

export function createSimulatedUsers(context: UserContext): SimulatedUsers {
  const { world, fleet, audited } = context;
  const { random, scheduler } = world;
  const isEnded = ({ runId }: PlannedRun) => audited.facts.runs.get(runId)?.done !== undefined;

  /** Repeats the request with the same run id until the run has started. */
  function start(run: PlannedRun): void {
    if (audited.facts.runs.has(run.runId)) return;
    const member = fleet.pickAwake();
    if (member && run.scheduleId !== undefined) addPlannedSchedule(context, member, run);
    else if (member) startSimulatedRun(context, member, run);
    scheduler.after(random.between(200, 900), () => start(run));
  }

  function sendRandomMessages(run: PlannedRun): void {
    const { runId } = run;
    if (isEnded(run) || !audited.facts.runs.has(runId)) return;
    const key = `random_${scheduler.fired}_${runId}`;
    const drawn = random.next();
    const callId = random.chance(0.5)
      ? (getPendingCalls(context, run)[0]?.callId ?? "call_1_0")
      : `call_${random.between(1, 3)}_0`;
    if (drawn < 0.35) sendUntilAcknowledged(context, runId, { key, type: "steer", text: `steer ${key}` });
    else if (drawn < 0.5) sendUntilAcknowledged(context, runId, { key, type: "cancel", reason: "Enough." });
    else if (drawn < 0.6) sendUntilAcknowledged(context, runId, { key, type: "approve", callId });
    else if (drawn < 0.7) sendUntilAcknowledged(context, runId, { key, type: "deny", callId });
    else if (drawn < 0.75)
      sendUntilAcknowledged(context, runId, { key, type: "result", callId, value: "random" });
    else sendThroughOpenedRun(context, runId, key);
  }

  /** Polls the run and answers each pending call once. */
  function answerPendingCalls(run: PlannedRun): void {
    const answered = new Set<string>();
    const poll = () => {
      if (isEnded(run) && !run.isRetried) return;
      for (const call of isWaiting(context, run) ? getPendingCalls(context, run) : []) {
        const key = `${call.callId}/${call.needs}/${call.digest ?? ""}`;
        if (answered.has(key) || (!world.isCalm && random.chance(0.6))) continue;
        answered.add(key);
        sendUntilAcknowledged(context, run.runId, { key, ...createReply(world, call) });
      }
      scheduler.after(world.isCalm ? 300 : random.between(50, 600), poll);
    };
    poll();
  }

  function retryFailures(run: PlannedRun): void {
    let retriedAt = -1;
    const poll = () => {
      const at = audited.facts.runs.get(run.runId)?.done?.seq ?? -1;
      if (canBeRetried(context, run) && at > retriedAt) {
        retriedAt = at;
        sendUntilAcknowledged(context, run.runId, { key: `retry_${at}`, type: "retry" });
      }
      scheduler.after(random.between(300, 2500), poll);
    };
    poll();
  }

  return {
    start,
    sendRandomMessages,
    answerPendingCalls,
    retryFailures,
    isFinished: (run) => isEnded(run) && !canBeRetried(context, run),
  };
}

/** Repeats a message until it is acknowledged or the run has ended. */
function sendUntilAcknowledged(context: UserContext, runId: string, message: RunMessage): void {
  const { world, fleet, audited } = context;
  const { random, scheduler } = world;
  let isSettled = false;
  const attempt = () => {
    if (isSettled) return;
    const member = fleet.pickAwake();
    const send = () =>
      member?.engine.send(runId, message).then(
        () => {
          isSettled = true;
          audited.messages.onAcknowledge(runId, message.key);
        },
        (thrown) => {
          isSettled ||=
            checkErrorCode(world, thrown, [...refusals, "store_failed", ...versionCodes]) &&
            refusals.includes(getThrownCode(thrown));
        },
      );
    member?.worker.schedule(0, () => void send());
    if (random.chance(0.1)) fleet.pickAwake()?.worker.schedule(random.below(50), () => void send());
    scheduler.after(1500, attempt);
  };
  attempt();
}

function canBeRetried({ audited }: UserContext, { runId, session, isRetried }: PlannedRun): boolean {
  const run = audited.facts.runs.get(runId);
  return isRetried && run?.done?.canRetry === true && audited.facts.getSession(session).newest === run;
}

function isWaiting({ audited }: UserContext, { session, runId }: PlannedRun): boolean {
  const { state } = audited.facts.getSession(session);
  return state.run?.id === runId && state.run.waiting;
}

function getPendingCalls(
  { audited, fleet }: UserContext,
  { session, runId }: PlannedRun,
): readonly PendingCall[] {
  const { run } = audited.facts.getSession(session).state;
  const [member] = fleet.listAlive();
  return run?.id === runId && member ? listPendingCalls(indexAgents(member.agent), run) : [];
}

type MessageBody = RunMessage extends infer Message
  ? Message extends RunMessage
    ? Omit<Message, "key">
    : never
  : never;

function createReply({ random }: World, { callId, needs, question, input }: PendingCall): MessageBody {
  if (needs === "answer") return { type: "result", callId, value: "answered" };
  if (random.chance(0.25)) return { type: "deny", callId, reason: "No." };
  if (!question && random.chance(0.3)) return { type: "approve", callId, input: editInput(input) };
  return { type: "approve", callId, ...(question && { value: 7 }) };
}

/** Keeps the number that identifies the call. */
const editInput = (input: Json): Json => ({ ...Object(input), edited: true });

/** Asks for a run in a moment. The same request again finds the schedule. */
function addPlannedSchedule({ world }: UserContext, member: FleetMember, run: PlannedRun): void {
  const { worker, engine, agent } = member;
  const { scheduleId: id = "", session, number } = run;
  const { onBusy: _, ...policy } = buildPolicy(run);
  worker.schedule(0, () => {
    if (member.isClosing) return;
    world.log(worker.name, `is asked to schedule ${id} in ${session}`);
    const request = { agent, input: `plan ${number}`, id, session, policy, timeZone: "UTC" };
    engine
      .schedule({ ...request, when: "in 1 second" })
      .catch((thrown) => checkErrorCode(world, thrown, [...retryableCodes, "aborted"]));
  });
}

function startSimulatedRun(context: UserContext, member: FleetMember, run: PlannedRun): void {
  const { world } = context;
  const { worker, engine, agent, hooks } = member;
  const { number, runId, session } = run;
  const policy = buildPolicy(run);
  worker.schedule(0, () => {
    if (member.isClosing) return;
    world.log(worker.name, `is asked to start ${runId} in ${session}`);
    const { clock } = worker;
    const options = { session, runId, clock, hooks, policy, timeZone: "UTC" };
    const handle = engine.run(agent, `plan ${number}`, options);
    followSimulatedRun(context, run, handle).catch((thrown) =>
      checkErrorCode(world, thrown, [
        ...retryableCodes,
        ...lateCodes,
        ...versionCodes,
        ...(member.isClosing ? ["aborted"] : []),
      ]),
    );
  });
}

function buildPolicy({ number, maxTurns, sequential, contextBudget, attempts, patienceMs }: PlannedRun) {
  return {
    maxTurns,
    toolExecution: sequential ? "sequential" : "parallel",
    contextBudget,
    modelRetry: { attempts, patienceMs },
    onBusy: number % 2 === 0 ? "queue" : "reject",
  } as const;
}

/** Errors with which a run may reject: another process resumes it, or it can be started again. */
const retryableCodes: readonly string[] = ["store_failed", "lease_lost", "session_busy", "position_conflict"];
/** Errors of a message that comes too late: the run has ended, or a later one of its session has started. */
const refusals: readonly string[] = ["run_ended", "not_retryable"];
/** Errors of a process that meets facts of a newer version. */
const versionCodes: readonly string[] = ["newer_version"];
const lateCodes: readonly string[] = ["unknown_call", "approval_conflict", "run_ended"];

/** Awaits or iterates the run, and sometimes answers its pending calls directly. */
async function followSimulatedRun(context: UserContext, run: PlannedRun, handle: Run): Promise<void> {
  const { world } = context;
  let last = 0;
  if (world.random.chance(0.5))
    for await (const event of handle) {
      if (!("seq" in event) || event.runId !== run.runId) continue;
      if (event.seq <= last)
        world.reportViolation("a reader gets every fact once and in order", `${event.seq} after ${last}`);
      last = event.seq;
    }
  const result = await handle;
  checkStatus(context, run.runId, result.status);
  if (result.status !== "waiting" || !world.random.chance(0.3)) return;
  for (const call of result.pending) {
    const reply = createReply(world, call);
    try {
      if (reply.type === "result") handle.answer(call.callId, reply.value);
      if (reply.type === "deny") handle.deny(call.callId, reply.reason);
      if (reply.type === "approve" && reply.input !== undefined) handle.approveWith(call.callId, reply.input);
      else if (reply.type === "approve") handle.approve(call.callId, reply.value);
    } catch (thrown) {
      checkErrorCode(world, thrown, lateCodes);
    }
  }
  return followSimulatedRun(context, run, handle);
}

/** Sends a message through a handle from `open` and checks the result. */
function sendThroughOpenedRun(context: UserContext, runId: string, key: string): void {
  const { world, fleet } = context;
  const member = fleet.pickAwake();
  const drawn = world.random.next();
  member?.worker.schedule(0, () => {
    const opened = member.engine.open(runId);
    if (drawn < 0.5) opened.steer(`steer ${key}`);
    else if (drawn < 0.6) opened.cancel("Opened and closed.");
    opened.then(
      ({ status }) => checkStatus(context, runId, status),
      (thrown) => checkErrorCode(world, thrown, ["run_ended", "store_failed", ...versionCodes]),
    );
  });
}

/** Checks that a run which is reported as ended has ended so. */
function checkStatus({ world, audited }: UserContext, runId: string, status: string): void {
  const { statuses = new Set() } = audited.facts.runs.get(runId) ?? {};
  if (status !== "waiting" && !statuses.has(status))
    world.reportViolation(
      "a run ends in exactly one status",
      `${runId}: ${status}, stored: ${[...statuses]}`,
    );
}

/** Reports a violation if the error code is not expected. */
function checkErrorCode(world: World, thrown: unknown, codes: readonly string[]): boolean {
  const isExpected = codes.includes(getThrownCode(thrown));
  if (!isExpected) world.reportViolation("only store errors reject", String(thrown));
  return isExpected;
}

function getThrownCode(thrown: unknown): string {
  return describeThrown(thrown, "tool_failed").code;
}
