import { AgentError } from "../errors.ts";
import type { Json } from "../json.ts";
import type { StoredRecord } from "../store.ts";

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
