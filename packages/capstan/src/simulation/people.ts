import { indexAgents } from "../agent.ts";
import { describeThrown } from "../errors.ts";
import { listPendingCalls, type PendingCall } from "../rules/pending-calls.ts";
import type { Run } from "../run/run-handle.ts";
import type { RunMessage } from "../store.ts";
import type { AuditedStore } from "./audited-store.ts";
import type { Fleet, Member } from "./fleet.ts";
import type { PlannedRun } from "./plan.ts";
import type { World } from "./world.ts";

/** Those who start runs, speak into them, and answer when they are asked. */
export interface People {
  start(run: PlannedRun): void;
  meddle(run: PlannedRun): void;
  attend(run: PlannedRun): void;
}

type Town = { readonly world: World; readonly fleet: Fleet; readonly audited: AuditedStore };

export function newPeople(town: Town): People {
  const { world, fleet, audited } = town;
  const { chance, scheduler } = world;
  const isEnded = ({ runId }: PlannedRun) => audited.facts.runs.get(runId)?.done !== undefined;

  /** Starts it again, under the same name, until it is known to have started. */
  function start(run: PlannedRun): void {
    if (audited.facts.runs.has(run.runId)) return;
    const member = fleet.any();
    if (member) begin(town, member, run);
    scheduler.after(chance.between(200, 900), () => start(run));
  }

  /** Says the same thing again until it is acknowledged, or too late. */
  function say(runId: string, message: RunMessage): void {
    let isKnown = false;
    const attempt = () => {
      if (isKnown) return;
      const member = fleet.any();
      const tell = () =>
        member?.engine.send(runId, message).then(
          () => {
            isKnown = true;
            audited.messages.acknowledged(runId, message.key);
          },
          (thrown) => {
            isKnown ||=
              isTolerated(world, thrown, ["run_ended", "store_failed"]) && codeOf(thrown) === "run_ended";
          },
        );
      member?.worker.later(0, () => void tell());
      if (chance.is(0.1)) fleet.any()?.worker.later(chance.below(50), () => void tell());
      scheduler.after(1500, attempt);
    };
    attempt();
  }

  function meddle(run: PlannedRun): void {
    const { runId } = run;
    if (isEnded(run) || !audited.facts.runs.has(runId)) return;
    const key = `meddle_${scheduler.fired}_${runId}`;
    const drawn = chance.next();
    const callId = chance.is(0.5)
      ? (pendingOf(town, run)[0]?.callId ?? "call_1_0")
      : `call_${chance.between(1, 3)}_0`;
    if (drawn < 0.35) say(runId, { key, type: "steer", text: `steer ${key}` });
    else if (drawn < 0.5) say(runId, { key, type: "cancel", reason: "Enough." });
    else if (drawn < 0.6) say(runId, { key, type: "approve", callId });
    else if (drawn < 0.7) say(runId, { key, type: "deny", callId });
    else if (drawn < 0.75) say(runId, { key, type: "result", callId, value: "meddled" });
    else openAndSay(town, runId, key);
  }

  /** Looks every now and then whether the run waits for somebody, and answers each question once. */
  function attend(run: PlannedRun): void {
    const answered = new Set<string>();
    const look = () => {
      if (isEnded(run)) return;
      for (const call of isWaiting(town, run) ? pendingOf(town, run) : []) {
        const key = `${call.callId}/${call.needs}/${call.digest ?? ""}`;
        if (answered.has(key) || (!world.isCalm && chance.is(0.6))) continue;
        answered.add(key);
        say(run.runId, { key, ...replyTo(world, call) });
      }
      scheduler.after(world.isCalm ? 300 : chance.between(50, 600), look);
    };
    look();
  }

  return { start, meddle, attend };
}

function isWaiting({ audited }: Town, { session, runId }: PlannedRun): boolean {
  const { state } = audited.facts.sessionOf(session);
  return state.run?.id === runId && state.run.waiting;
}

function pendingOf({ audited, fleet }: Town, { session, runId }: PlannedRun): readonly PendingCall[] {
  const { run } = audited.facts.sessionOf(session).state;
  const [member] = fleet.alive();
  return run?.id === runId && member ? listPendingCalls(indexAgents(member.agent), run) : [];
}

type Reply = RunMessage extends infer Message
  ? Message extends RunMessage
    ? Omit<Message, "key">
    : never
  : never;

function replyTo({ chance }: World, { callId, needs, question }: PendingCall): Reply {
  if (needs === "answer") return { type: "result", callId, value: "answered" };
  if (chance.is(0.25)) return { type: "deny", callId, reason: "No." };
  return { type: "approve", callId, ...(question && { value: 7 }) };
}

function begin(town: Town, { worker, engine, agent, hooks }: Member, run: PlannedRun): void {
  const { world } = town;
  const { number, runId, session, maxTurns, sequential } = run;
  const policy = { maxTurns, toolExecution: sequential ? "sequential" : "parallel" } as const;
  worker.later(0, () => {
    world.note(worker.name, `is asked to start ${runId} in ${session}`);
    const { clock } = worker;
    const options = { session, runId, clock, hooks, policy, timeZone: "UTC" };
    const handle = engine.run(agent, `plan ${number}`, options);
    follow(town, run, handle).catch((thrown) => isTolerated(world, thrown, [...passing, ...tooLate]));
  });
}

/** Why a run may reject: another process goes on with it, or it can be started again. */
const passing: readonly string[] = ["store_failed", "lease_lost", "session_busy", "position_conflict"];
const tooLate: readonly string[] = ["unknown_call", "approval_conflict", "run_ended"];

/** Awaits or iterates the run, and sometimes answers it right there. */
async function follow(town: Town, run: PlannedRun, handle: Run): Promise<void> {
  const { world, audited } = town;
  let last = 0;
  if (world.chance.is(0.5))
    for await (const event of handle) {
      if (!("seq" in event) || event.runId !== run.runId) continue;
      if (event.seq <= last)
        world.violate("a reader gets every fact once and in order", `${event.seq} after ${last}`);
      last = event.seq;
    }
  const result = await handle;
  const done = audited.facts.runs.get(run.runId)?.done;
  if (result.status !== "waiting" && result.status !== done?.status)
    world.violate(
      "a run ends in exactly one status",
      `${run.runId}: ${result.status}, stored: ${done?.status}`,
    );
  if (result.status !== "waiting" || !world.chance.is(0.3)) return;
  for (const call of result.pending) {
    const reply = replyTo(world, call);
    try {
      if (reply.type === "result") handle.answer(call.callId, reply.value);
      if (reply.type === "deny") handle.deny(call.callId, reply.reason);
      if (reply.type === "approve") handle.approve(call.callId, reply.value);
    } catch (thrown) {
      isTolerated(world, thrown, tooLate);
    }
  }
  return follow(town, run, handle);
}

/** Speaks through the run that `open` gives, and looks what became of it. */
function openAndSay({ world, fleet, audited }: Town, runId: string, key: string): void {
  const member = fleet.any();
  const drawn = world.chance.next();
  member?.worker.later(0, () => {
    const opened = member.engine.open(runId);
    if (drawn < 0.5) opened.steer(`steer ${key}`);
    else if (drawn < 0.6) opened.cancel("Opened and closed.");
    opened.then(
      ({ status }) => {
        const done = audited.facts.runs.get(runId)?.done;
        if (status !== "waiting" && status !== done?.status)
          world.violate("a run ends in exactly one status", `${runId}: ${status}, stored: ${done?.status}`);
      },
      (thrown) => isTolerated(world, thrown, ["run_ended", "store_failed"]),
    );
  });
}

/** Nothing may reject for a reason that nobody can expect. */
function isTolerated(world: World, thrown: unknown, codes: readonly string[]): boolean {
  const isExpected = codes.includes(codeOf(thrown));
  if (!isExpected) world.violate("nothing rejects for another reason than the store's", String(thrown));
  return isExpected;
}

function codeOf(thrown: unknown): string {
  return describeThrown(thrown, "tool_failed").code;
}
