import { AgentError } from "../errors.ts";
import type { FactBody, UnplacedFact } from "../event.ts";
import type { Json } from "../json.ts";
import type { RunInfo, StoredRecord } from "../store.ts";

/** Whether the fact begins a run that is listed. One that is nested in another goes on with that one alone. */
export function startsRun(fact: UnplacedFact): boolean {
  return fact.type === "run_start" && fact.parentRunId === undefined;
}

/** What a fact makes of its run. */
export function stateAfter(fact: FactBody): RunInfo["state"] {
  if (fact.type === "done") return "ended";
  // A run that goes on by itself needs somebody to see that the time has come.
  return fact.type === "waiting" && fact.until === undefined ? "waiting" : "active";
}

/** Nobody hears what is told to a run that is not there or has ended. */
export function assertTellable(runId: string, run: Pick<RunInfo, "state"> | undefined): void {
  if (!run) throw new AgentError("unknown_run", `The store has no run "${runId}".`);
  if (run.state === "ended")
    throw new AgentError("run_ended", `The run "${runId}" has ended: start a new one in its session.`);
}

/** How many rows to give for what a caller asked: a number that every database takes. */
export function rowLimit(most: number): number {
  return Math.min(Math.max(0, Math.floor(most) || 0), 2 ** 31 - 1);
}

const longestKind = 100;
const longestId = 200;
const mostBytes = 1_000_000;

/** The body of a record as JSON. Throws `invalid_input` for what no store takes. */
export function recordJson({ kind, id, body }: Pick<StoredRecord, "kind" | "id" | "body">): string {
  if (kind.length > longestKind || id.length > longestId) {
    const message = `A record's kind has at most ${longestKind} characters and its id ${longestId}, not ${kind.length} and ${id.length}: shorten it.`;
    throw new AgentError("invalid_input", message);
  }
  const json = jsonOf(body);
  if (json === undefined)
    throw new AgentError("invalid_input", `The record ${named(kind, id)} is not JSON: give plain data.`);
  const size = new TextEncoder().encode(json).length;
  if (size > mostBytes) {
    const message = `The record ${named(kind, id)} has ${size} bytes as JSON, and ${mostBytes} are allowed: make it smaller.`;
    throw new AgentError("invalid_input", message);
  }
  return json;
}

type Newest = Pick<StoredRecord, "kind" | "id" | "version">;

/** Throws `position_conflict` when the newest version is another than the writer knows. */
export function assertVersion(newest: Newest, expected: number): void {
  if (newest.version !== expected) throw versionConflict(newest, expected);
}

/** That the newest version is another than the writer knows. */
export function versionConflict({ kind, id, version }: Newest, expected: number): AgentError {
  const is = version === 0 ? "does not exist" : `is at version ${version}`;
  const message = `The record ${named(kind, id)} ${is}, not at version ${expected}: read it again first.`;
  return new AgentError("position_conflict", message);
}

/** Puts records in the same order in every store. */
export function byId(left: StoredRecord, right: StoredRecord): number {
  if (left.id === right.id) return 0;
  return left.id < right.id ? -1 : 1;
}

function named(kind: string, id: string): string {
  return `${JSON.stringify(id)} of the kind ${JSON.stringify(kind)}`;
}

function jsonOf(body: Json): string | undefined {
  try {
    return JSON.stringify(body);
  } catch {
    return undefined; // a circle, or a number that JSON does not have
  }
}
