import type { Json, UiHint } from "capstan";

type Change = { readonly before: string; readonly after: string; readonly replacesAll: boolean };
type Fields = Readonly<Record<string, Json>>;

/** Builds a diff from the old and new texts in a call's arguments. Line numbers are unknown. */
export function buildInputDiff(input: Json): UiHint | undefined {
  const fields = Object(input) as Fields;
  const path = findPath(fields);
  const changes = findChanges(fields);
  if (path === undefined || changes.length === 0) return undefined;
  const diff = [`--- a/${path}`, `+++ b/${path}`, ...changes.map(formatHunk)].join("\n");
  return { kind: "diff", props: { path, diff: `${diff}\n` } };
}

/** Returns the content that a call would write. The previous content is unknown, so there is no diff. */
export function getInputContent(input: Json): string | undefined {
  const fields = Object(input) as Fields;
  const isWholeContent = findPath(fields) !== undefined && findChanges(fields).length === 0;
  return isWholeContent && typeof fields.content === "string" ? fields.content : undefined;
}

const findPath = ({ path }: Fields): string | undefined => (typeof path === "string" ? path : undefined);

function findChanges(fields: Fields): readonly Change[] {
  if (Array.isArray(fields.edits))
    return fields.edits.flatMap((edit: Json) => findChanges(Object(edit) as Fields));
  const before = fields.find ?? fields.old_text ?? fields.oldText ?? fields.old_string;
  const after = fields.replace ?? fields.new_text ?? fields.newText ?? fields.new_string;
  if (typeof before !== "string" || typeof after !== "string") return [];
  return [{ before, after, replacesAll: fields.all === true }];
}

/** Keeps the common first and last lines as context. */
function formatHunk({ before, after, replacesAll }: Change): string {
  const [oldLines, newLines] = [splitDiffLines(before), splitDiffLines(after)];
  const sharedLength = Math.min(oldLines.length, newLines.length);
  let head = 0;
  while (head < sharedLength && oldLines[head] === newLines[head]) head++;
  let tail = 0;
  while (tail < sharedLength - head && oldLines.at(-1 - tail) === newLines.at(-1 - tail)) tail++;
  const [oldEnd, newEnd] = [oldLines.length - tail, newLines.length - tail];
  return [
    // Line 0 means that the position is unknown, so no line gets a number.
    `@@ -0,${oldLines.length} +0,${newLines.length} @@${replacesAll ? " all occurrences" : ""}`,
    ...oldLines.slice(0, head).map((line) => ` ${line}`),
    ...oldLines.slice(head, oldEnd).map((line) => `-${line}`),
    ...newLines.slice(head, newEnd).map((line) => `+${line}`),
    ...oldLines.slice(oldEnd).map((line) => ` ${line}`),
  ].join("\n");
}

const splitDiffLines = (text: string): readonly string[] =>
  text === "" ? [] : text.replace(/\n$/, "").split("\n");
