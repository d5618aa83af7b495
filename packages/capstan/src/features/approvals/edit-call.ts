import { formatShortJson, isRecord, type Json, toCanonicalJson } from "../../base/json.ts";
import type { CallPart, ResultEntry } from "../../kernel/history.ts";
import type { Call } from "../../kernel/state.ts";

const maxValueLength = 2_000;

/** Replaces the arguments of a call that the user approved. Without its digest, which no import keeps, it does not run. */
export function editCall(call: Call, input: Json, digest = ""): void {
  const { raw: _, ...part } = call.part;
  call.approval = { approved: true, edit: { digest, before: part.input } };
  call.part = { ...part, input: input as CallPart["input"] };
}

/** Tells the model what the user changed in its call, before the result of the changed call. */
export function withEditNote(entry: ResultEntry, { part, approval }: Call): ResultEntry {
  if (approval?.edit === undefined) return entry;
  const note = `The user changed the arguments before approving: ${formatArgumentChanges(approval.edit.before, part.input)}. This is the result of the call with these arguments.`;
  const { content } = entry;
  return {
    ...entry,
    content:
      typeof content === "string" ? `${note}\n\n${content}` : [{ type: "text", text: note }, ...content],
  };
}

/** Lists the fields that differ, with their new values. */
export function formatArgumentChanges(before: Json, after: Json): string {
  if (!isRecord(before) || !isRecord(after)) return formatShortJson(after, maxValueLength);
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return names
    .filter((name) => !isUnchanged(before[name] as Json, after[name] as Json))
    .map((name) =>
      Object.hasOwn(after, name)
        ? `${name}: ${formatShortJson(after[name] as Json, maxValueLength)}`
        : `${name}: removed`,
    )
    .join("; ");
}

function isUnchanged(left: Json | undefined, right: Json | undefined): boolean {
  if (left === undefined || right === undefined) return left === right;
  return toCanonicalJson(left) === toCanonicalJson(right);
}
