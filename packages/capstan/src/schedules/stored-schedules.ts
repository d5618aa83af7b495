// One record of kind "schedule" per schedule, whose id carries its user as the id of a session does. `dueAt` of a record is
// when a process must look at it: at its next time, or when the claim of a process that starts a run expires.
import { AgentError } from "../base/errors.ts";
import type { Json } from "../base/json.ts";
import { createId } from "../kernel/ids.ts";
import { type Records, type StoredRecord, updateRecord } from "../kernel/records.ts";
import { getScope } from "../kernel/session-id.ts";
import type { Store } from "../runtime/store.ts";
import {
  assertFuture,
  assertSame,
  buildSchedule,
  type Schedule,
  type ScheduleData,
  type ScheduleLimits,
  type ScheduleOptions,
  type StartedOccurrence,
} from "./schedule.ts";
import { findNext } from "./timing.ts";

export const scheduleKind = "schedule";
/** Schedules of a user that have ended and are kept, so that their runs can be found. */
const maxEnded = 50;
/** The newest runs that a schedule lists. */
const maxRuns = 20;

type AddContext = { readonly store: Store; readonly now: number; readonly limits: ScheduleLimits };

/**
 * Stores a schedule. If the caller is not told, as in a crash, the schedule works nevertheless, and the same request with
 * its `id` returns it. Rejects with `invalid_input`, `idempotency_conflict` or `quota_exceeded`.
 */
export async function addSchedule(options: ScheduleOptions, context: AddContext): Promise<Schedule> {
  const { store, now, limits } = context;
  const id = options.id ?? createScheduleId(options.user ?? getScope(options.session ?? ""));
  const data = buildSchedule(id, options, now);
  const existing = await findSchedule(store, id);
  if (existing) return assertSame(existing, data);
  assertFuture(data, limits);
  await assertPlace(store, { id, limits, isStored: false });
  if (data.session !== undefined) await store.create(data.session);
  try {
    await store.putRecord({ kind: scheduleKind, id, body: toBody(data) }, 0);
  } catch (thrown) {
    const stored = await findSchedule(store, id); // another process was faster
    if (!stored) throw thrown;
    return assertSame(stored, data);
  }
  await assertPlace(store, { id, limits, isStored: true });
  return toSchedule(id, data);
}

/** Creates the id of a schedule of a user. */
export function createScheduleId(user: string, seed?: string): string {
  const id = seed === undefined ? createId("sch_") : `sch_${seed}`;
  return user === "" ? id : `${user}~${id}`;
}

/** Throws `quota_exceeded` if the user has too many schedules. Forgets the oldest that have ended. */
async function assertPlace(
  store: Store,
  {
    id,
    limits,
    isStored,
  }: { readonly id: string; readonly limits: ScheduleLimits; readonly isStored: boolean },
): Promise<void> {
  const { maxSchedules } = limits;
  const records = await store.listRecords(scheduleKind, { scope: getScope(id) });
  const [ended, current] = [records.filter(isEnded), records.filter((record) => !isEnded(record))];
  const oldest = ended.toSorted((left, right) => right.updatedAt - left.updatedAt).slice(maxEnded);
  for (const { id: endedId } of oldest)
    await updateRecord(store, { kind: scheduleKind, id: endedId }, () => undefined);
  if (current.length <= (isStored ? maxSchedules : maxSchedules - 1)) return;
  // Counted again once it is stored, because another process may have stored one at the same time.
  if (isStored) await removeSchedule(store, id);
  const message = `There are ${maxSchedules} schedules already. Remove one of them first.`;
  throw new AgentError("quota_exceeded", message, { retryable: false });
}

const isEnded = (record: StoredRecord) => parseBody(record).state === "ended";

export async function findSchedule(
  store: Pick<Records, "getRecord">,
  id: string,
): Promise<Schedule | undefined> {
  const record = await store.getRecord(scheduleKind, id);
  return record && toSchedule(id, parseBody(record));
}

/** Rejects with `not_found`. */
export async function loadSchedule(store: Pick<Records, "getRecord">, id: string): Promise<Schedule> {
  const found = await findSchedule(store, id);
  if (!found) throw createUnknownScheduleError(id);
  return found;
}

/** Lists the schedules of one user, or all: those that start next come first. */
export async function listSchedules(
  store: Pick<Records, "listRecords">,
  filter: { readonly user?: string } = {},
): Promise<readonly Schedule[]> {
  const { user } = filter;
  const records = await store.listRecords(scheduleKind, user === undefined ? {} : { scope: user });
  const getTime = ({ nextAt = Number.MAX_SAFE_INTEGER }: Schedule) => nextAt;
  return records
    .map((record) => toSchedule(record.id, parseBody(record)))
    .sort((left, right) => getTime(left) - getTime(right) || right.createdAt - left.createdAt);
}

/** Removes a schedule. Runs that it has started continue. Rejects with `not_found`. */
export async function removeSchedule(store: Records, id: string): Promise<void> {
  await updateSchedule(store, id, () => undefined);
}

/** Deletes the schedules that continue a session which is being removed. */
export async function deleteSessionSchedules(store: Records, sessionId: string): Promise<void> {
  for (const { id, session } of await listSchedules(store, { user: getScope(sessionId) }))
    if (session === sessionId) await updateRecord(store, { kind: scheduleKind, id }, () => undefined);
}

/** Stops a schedule until it is resumed. Rejects with `not_found`. */
export async function pauseSchedule(store: Records, id: string): Promise<Schedule> {
  return updateSchedule(store, id, (data) => {
    if (data.state !== "active") return data;
    const { dueAt: _, nextAt: __, pending: ___, ...rest } = data;
    return { ...rest, state: "paused" };
  });
}

/** Continues a paused schedule with its next time. Rejects with `not_found`, or `invalid_input` if its time is over. */
export async function resumeSchedule(store: Records, id: string, now: number): Promise<Schedule> {
  return updateSchedule(store, id, (data) => {
    if (data.state === "active") return data;
    const nextAt = findNext(data.timing, data.timeZone, now);
    if (nextAt === undefined || data.state === "ended")
      throw new AgentError("invalid_input", `The time of the schedule "${id}" is over. Add a new one.`);
    return { ...data, state: "active", nextAt, dueAt: nextAt };
  });
}

/** Adds a run that a user has started to the runs of a schedule. */
export async function recordManualRun(
  store: Records,
  id: string,
  { runId, sessionId, at }: { readonly runId: string; readonly sessionId: string; readonly at: number },
): Promise<void> {
  const run = { runId, sessionId, dueAt: at, startedAt: at, isManual: true } as const;
  await updateSchedule(store, id, (data) =>
    data.runs.some((known) => known.runId === runId) ? data : withRun(data, run),
  );
}

/** Adds a run to a schedule, which keeps the newest ones. */
export function withRun<Data extends ScheduleData>(data: Data, run: StartedOccurrence): Data {
  return { ...data, runs: [run, ...data.runs].slice(0, maxRuns) };
}

/** Changes a schedule; removes it if `change` returns undefined. Rejects with `not_found`. Returns what is stored then. */
export async function updateSchedule(
  store: Records,
  id: string,
  change: (data: ScheduleData) => ScheduleData | undefined,
): Promise<Schedule> {
  let changed: ScheduleData | undefined;
  await updateRecord(store, { kind: scheduleKind, id }, (body) => {
    if (body === undefined) throw createUnknownScheduleError(id);
    const data = body as unknown as ScheduleData;
    const next = change(data);
    changed = next ?? data;
    return next && toBody(next);
  });
  if (!changed) throw createUnknownScheduleError(id);
  return toSchedule(id, changed);
}

function createUnknownScheduleError(id: string): AgentError {
  return new AgentError("not_found", `Schedule "${id}" not found.`);
}

export function parseBody({ body }: Pick<StoredRecord, "body">): ScheduleData {
  return body as unknown as ScheduleData;
}

export function toBody(data: ScheduleData): Json {
  return data as unknown as Json;
}

export function toSchedule(id: string, { dueAt: _, pending: __, ...data }: ScheduleData): Schedule {
  return { id, ...data };
}
