import { AgentError } from "../base/errors.ts";
import { isRecord, type Json } from "../base/json.ts";
import { type Fact, type FactBody, factVersion, type UnplacedFact } from "../kernel/event.ts";
import type { RecordFilter, StoredRecord } from "../kernel/records.ts";
import { getScope } from "../kernel/session-id.ts";
import type { RunInfo } from "../runtime/store.ts";

/** Whether the fact starts a listed run. A nested run is not listed: it continues with its parent. */
export function isListedRunStart(fact: UnplacedFact): boolean {
  return fact.type === "run_start" && fact.parentRunId === undefined;
}

/** Returns the state of a run after this fact. */
export function getRunState(fact: FactBody): RunInfo["state"] {
  if (fact.type === "done") return "ended";
  // A run that waits until a time stays active, so that a process resumes it then.
  return fact.type === "waiting" && fact.until === undefined ? "waiting" : "active";
}

/**
 * Throws `newer_version` for a fact that a newer version stored. Facts of earlier versions need no conversion: `apply`
 * fills in the fields that they do not have.
 */
export function assertKnownVersion(version: number): void {
  if (version <= factVersion) return;
  const message = `Facts of version ${version} were stored by a newer version of Capstan; this process reads versions up to ${factVersion}. Update this process.`;
  throw new AgentError("newer_version", message);
}

/** Returns the version of a run's newest fact if it is newer than this code. */
export function findNewerVersion(version: number): Pick<RunInfo, "newerVersion"> {
  return version > factVersion ? { newerVersion: version } : {};
}

/** Throws `unknown_run` or `run_ended` for a run that cannot receive messages. */
export function assertAcceptsMessages(runId: string, run: Pick<RunInfo, "state"> | undefined): void {
  if (!run) throw new AgentError("unknown_run", `Run "${runId}" not found in the store.`);
  if (run.state === "ended")
    throw new AgentError("run_ended", `Run "${runId}" has ended. Start a new run in its session.`);
}

/** Throws `not_retryable` unless the last fact of the session is the end of this run and can be retried. */
export function assertCanRetry(runId: string, last: Fact | undefined): void {
  if (last?.type === "done" && last.runId === runId && last.canRetry) return;
  const isOlder = last !== undefined && last.runId !== runId && last.parentRunId !== runId;
  const reason = isOlder
    ? `is not the newest run of its session. Start a new run`
    : `did not fail because of its model. Start a new run in its session`;
  throw new AgentError("not_retryable", `Run "${runId}" cannot be retried: it ${reason}.`);
}

/** Selects up to `limit` runs, one per scope in each round, otherwise in the given order. */
export function takeTurns<Run extends Pick<RunInfo, "sessionId">>(
  runs: readonly Run[],
  limit: number,
): Run[] {
  const byScope = [...Map.groupBy(runs, ({ sessionId }) => getScope(sessionId)).values()];
  const selected: Run[] = [];
  for (let round = 0; selected.length < Math.min(limit, runs.length); round++)
    for (const scopeRuns of byScope) selected.push(...scopeRuns.slice(round, round + 1));
  return selected.slice(0, limit);
}

/** Clamps a limit to a row count that every database accepts. */
export function clampRowLimit(limit: number): number {
  return Math.min(Math.max(0, Math.floor(limit) || 0), 2 ** 31 - 1);
}

const maxKindLength = 100;
const maxIdLength = 200;
const maxBodyBytes = 1_000_000;

/**
 * Serializes the body of a record, with `dueAt` as its first field, where databases index it. Throws `invalid_input` if the
 * record exceeds the limits of all stores.
 */
export function serializeRecord({ kind, id, body }: Pick<StoredRecord, "kind" | "id" | "body">): string {
  if (kind.length > maxKindLength || id.length > maxIdLength) {
    const message = `A record kind can have at most ${maxKindLength} characters and an id ${maxIdLength}, not ${kind.length} and ${id.length}.`;
    throw new AgentError("invalid_input", message);
  }
  const dueAt = findDueTime(body);
  const json = stringifyBody(
    dueAt === undefined ? body : { dueAt, ...(body as { readonly [key: string]: Json }) },
  );
  if (json === undefined)
    throw new AgentError("invalid_input", `The record ${formatRecordName(kind, id)} is not valid JSON data.`);
  const size = new TextEncoder().encode(json).length;
  if (size > maxBodyBytes) {
    const message = `The record ${formatRecordName(kind, id)} has ${size} bytes as JSON; the maximum is ${maxBodyBytes}.`;
    throw new AgentError("invalid_input", message);
  }
  return json;
}

type RecordVersion = Pick<StoredRecord, "kind" | "id" | "version">;

/** Throws `position_conflict` unless the latest version is the expected one. */
export function assertVersion(latest: RecordVersion, expected: number): void {
  if (latest.version !== expected) throw createVersionConflict(latest, expected);
}

export function createVersionConflict({ kind, id, version }: RecordVersion, expected: number): AgentError {
  const status = version === 0 ? "does not exist" : `is at version ${version}`;
  const message = `The record ${formatRecordName(kind, id)} ${status}, not at version ${expected}. Read it again first.`;
  return new AgentError("position_conflict", message);
}

/** Returns the records that the filter selects, in the same order in every store. */
export function filterRecords(
  records: readonly StoredRecord[],
  { ids, scope, dueUntil, limit }: RecordFilter = {},
): readonly StoredRecord[] {
  const chosen = ids && new Set(ids);
  const getDueTime = ({ body }: StoredRecord) => findDueTime(body) ?? Number.POSITIVE_INFINITY;
  const isSelected = (record: StoredRecord) =>
    (chosen?.has(record.id) ?? true) &&
    (scope === undefined || getScope(record.id) === scope) &&
    (dueUntil === undefined || getDueTime(record) <= dueUntil);
  const selected = records.filter(isSelected).sort(compareById);
  if (dueUntil !== undefined) selected.sort((left, right) => getDueTime(left) - getDueTime(right));
  return limit === undefined ? selected : selected.slice(0, clampRowLimit(limit));
}

/** Returns when a record is due: the number `dueAt` of its body, in milliseconds since the epoch. */
export function findDueTime(body: Json): number | undefined {
  if (!isRecord(body)) return undefined;
  const { dueAt } = body;
  return typeof dueAt === "number" && dueAt >= 0 && Number.isFinite(dueAt) ? dueAt : undefined;
}

function compareById(left: StoredRecord, right: StoredRecord): number {
  if (left.id === right.id) return 0;
  return left.id < right.id ? -1 : 1;
}

function formatRecordName(kind: string, id: string): string {
  return `${JSON.stringify(id)} of the kind ${JSON.stringify(kind)}`;
}

function stringifyBody(body: Json): string | undefined {
  try {
    return JSON.stringify(body);
  } catch {
    return undefined; // circular, or a BigInt
  }
}
