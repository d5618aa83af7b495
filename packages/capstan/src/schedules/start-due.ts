import type { Clock } from "../base/clock.ts";
import { AgentError, describeThrown, type ErrorData } from "../base/errors.ts";
import type { Entry } from "../kernel/history.ts";
import type { StoredRecord } from "../kernel/records.ts";
import { getScope } from "../kernel/session-id.ts";
import type { Store } from "../runtime/store.ts";
import type { PendingOccurrence, Schedule, ScheduleData, StartedOccurrence } from "./schedule.ts";
import { parseBody, scheduleKind, toBody, toSchedule, updateSchedule, withRun } from "./stored-schedules.ts";
import { countTimes, findNext, formatDate } from "./timing.ts";

/** A run to start for a schedule. Its id is the same for every attempt. */
export type ScheduledRun = Pick<Schedule, "agent" | "input" | "timeZone" | "policy" | "settings" | "tags"> & {
  readonly scheduleId: string;
  readonly runId: string;
  readonly sessionId: string;
};

export type DueContext = {
  readonly store: Store;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Whether this process can start runs of the agent. */
  hasAgent(agent: string): Promise<boolean>;
  /** Stores the start of a run. Called again with the same run if the process stops or the store fails. */
  start(run: ScheduledRun): Promise<unknown>;
  /** Called when times were missed because no process was there. */
  onMissed?(schedule: Schedule, count: number): void;
};

/** Schedules that a process looks at in one go. */
const batchSize = 20;
/** How long other processes leave a schedule to the one that starts a run of it. */
const claimMs = 30_000;
/** A run that starts up to this much late is on time. */
const graceMs = 60_000;
/** A schedule that this process cannot start is left to others for this long. */
const retryMs = 60_000;
/** This process cannot start the run; another one may have the agent, its context, or the newer version. */
const stuckCodes: readonly string[] = ["unknown_agent", "invalid_context", "newer_version"];

/** Starts the runs of schedules that are due, each of them once across all processes. */
export interface DueStarter {
  /** Resolves with the ids of the runs it has started. */
  startDue(): Promise<readonly string[]>;
}

export function createDueStarter(context: DueContext): DueStarter {
  const { store, clock, signal } = context;
  /** Schedules that this process cannot start, and until when they are left to others. */
  const refused = new Map<string, number>();

  async function startBatch(): Promise<readonly string[]> {
    for (const [id, until] of refused) if (until <= clock.monotonic()) refused.delete(id);
    const filter = { dueUntil: clock.now(), limit: batchSize + refused.size };
    const records = (await store.listRecords(scheduleKind, filter)).filter(({ id }) => !refused.has(id));
    const started: string[] = [];
    for (const record of records) {
      if (signal.aborted) break;
      const hasAgent = await context.hasAgent(parseBody(record).agent);
      const outcome = hasAgent ? await startOccurrence(context, record) : "refused";
      if (outcome === "refused") refused.set(record.id, clock.monotonic() + retryMs);
      else if (outcome) started.push(outcome.runId);
    }
    return started;
  }

  return {
    async startDue() {
      const started: string[] = [];
      for (let batch = await startBatch(); batch.length > 0; batch = await startBatch())
        started.push(...batch);
      return started;
    },
  };
}

/** Starts the run that is due, unless another process does. `refused`: this process cannot. */
async function startOccurrence(
  context: DueContext,
  record: StoredRecord,
): Promise<{ readonly runId: string } | "refused" | undefined> {
  const { store, clock } = context;
  const claimed = await claim(context, record);
  if (!claimed) return undefined;
  const { data, pending } = claimed;
  const scheduled = buildRun(record.id, data, pending);
  const isDeleted = data.session !== undefined && !(await store.getSession(data.session));
  const outcome = isDeleted
    ? createDeletedError(data.session)
    : await tryStart(context, scheduled).catch((thrown) => describeThrown(thrown, "internal"));
  if (outcome && stuckCodes.includes(outcome.code)) {
    await releaseClaim(context, record.id, pending);
    return "refused";
  }
  // The claim expires, and then any process tries again.
  if (outcome && isTemporary(outcome)) return undefined;
  const { runId, sessionId } = scheduled;
  const run: StartedOccurrence = {
    ...{ runId, sessionId, dueAt: pending.dueAt, startedAt: clock.now() },
    ...(pending.missed > 0 && { missed: pending.missed }),
    ...(outcome && { error: outcome }),
  };
  await updateSchedule(store, record.id, (current) => {
    if (current.runs.some((known) => known.runId === runId)) return current; // another process was faster
    const recorded = withRun(current, run);
    if (current.pending?.dueAt !== pending.dueAt) return recorded; // paused, or paused and resumed
    const { pending: _, ...rest } = recorded;
    return isDeleted ? end(rest) : planNext(rest, Math.max(clock.now(), pending.dueAt));
  }).catch(ignoreRemoved);
  return outcome ? undefined : { runId };
}

/** Leaves the run to other processes, at once. */
async function releaseClaim({ store }: DueContext, id: string, { dueAt }: PendingOccurrence): Promise<void> {
  await updateSchedule(store, id, (current) =>
    current.pending?.dueAt === dueAt ? { ...current, dueAt } : current,
  ).catch(ignoreRemoved);
}

async function tryStart(context: DueContext, run: ScheduledRun): Promise<undefined> {
  await context.start(run);
  return undefined;
}

/** Takes the schedule for a moment. Undefined if another process has it, or nothing is to start. */
async function claim(
  { store, clock, onMissed }: DueContext,
  record: StoredRecord,
): Promise<{ readonly data: ScheduleData; readonly pending: PendingOccurrence } | undefined> {
  const now = clock.now();
  const data = parseBody(record);
  const pending = data.pending ?? planOccurrence(data, now);
  if (!pending) return undefined;
  const isLate = now - pending.dueAt > graceMs;
  const isSkipped = !data.pending && isLate && data.missed === "skip";
  const newlyMissed = data.pending ? 0 : pending.missed + (isSkipped ? 1 : 0);
  const counted: ScheduleData = {
    ...data,
    ...(newlyMissed > 0 && { missedCount: data.missedCount + newlyMissed, missedAt: now }),
  };
  const next = isSkipped ? planNext(counted, now) : { ...counted, dueAt: now + claimMs, pending };
  const put = { kind: scheduleKind, id: record.id, body: toBody(next), replaces: true } as const;
  try {
    await store.putRecord(put, record.version);
  } catch (thrown) {
    if (describeThrown(thrown, "store_failed").code === "position_conflict") return undefined;
    throw thrown;
  }
  if (newlyMissed > 0) onMissed?.(toSchedule(record.id, next), newlyMissed);
  return isSkipped ? undefined : { data: counted, pending };
}

function planOccurrence(
  { timing, timeZone, nextAt }: ScheduleData,
  now: number,
): PendingOccurrence | undefined {
  if (nextAt === undefined) return undefined;
  const missed = countTimes(timing, timeZone, { after: nextAt, until: now });
  return { dueAt: nextAt, claimedAt: now, missed };
}

/** Sets the next time of a schedule, or ends it. A schedule that was paused in the meantime stays so. */
function planNext(data: ScheduleData, after: number): ScheduleData {
  if (data.state !== "active") return data;
  const nextAt = findNext(data.timing, data.timeZone, after);
  return nextAt === undefined ? end(data) : { ...data, nextAt, dueAt: nextAt };
}

function end({ dueAt: _, nextAt: __, ...data }: ScheduleData): ScheduleData {
  return { ...data, state: "ended" };
}

/** Builds the run of a time. Everything in it comes from the record, so that a repetition starts the same run. */
function buildRun(scheduleId: string, data: ScheduleData, pending: PendingOccurrence): ScheduledRun {
  const runId = `run_${scheduleId}_${pending.dueAt}`;
  const note = buildLateNote(data, pending);
  return { ...toScheduledRun(scheduleId, data, runId), input: [...(note ? [note] : []), ...data.input] };
}

/** Builds a run of a schedule with this id. A message to a busy session waits. */
export function toScheduledRun(
  scheduleId: string,
  { agent, input, timeZone, policy, settings, tags, session }: ScheduleData | Schedule,
  runId: string,
): ScheduledRun {
  const scope = getScope(scheduleId);
  const bareId = scope === "" ? runId : runId.replace(`${scope}~`, "");
  const sessionId = session ?? `${scope === "" ? "" : `${scope}~`}ses_${bareId}`;
  return {
    ...{ scheduleId, runId, sessionId, agent, input, timeZone },
    policy: { ...policy, onBusy: "queue" },
    ...(settings && { settings }),
    ...(tags && { tags }),
  };
}

/** Tells the model that it works late. */
function buildLateNote({ timeZone }: ScheduleData, pending: PendingOccurrence): Entry | undefined {
  const { dueAt, claimedAt, missed } = pending;
  if (claimedAt - dueAt <= graceMs && missed === 0) return undefined;
  const others =
    missed === 1 ? " One later time was missed." : missed > 1 ? ` ${missed} later times were missed.` : "";
  const content = `This message was scheduled for ${formatDate(dueAt, timeZone)} and starts late.${others}`;
  return { type: "user", content, provenance: "operator" };
}

/** Whether a later attempt may succeed. A used-up quota may be free again, but only much later. */
function isTemporary({ code, retryable }: ErrorData): boolean {
  return code === "aborted" || (retryable === true && code !== "quota_exceeded");
}

function createDeletedError(session: string | undefined): ErrorData {
  return { code: "not_found", message: `The session "${session}" was deleted.`, retryable: false };
}

function ignoreRemoved(thrown: unknown): void {
  if (!(thrown instanceof AgentError && thrown.code === "not_found")) throw thrown;
}
