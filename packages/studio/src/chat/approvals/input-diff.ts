import type { Json, UiHint } from "capstan";

type Change = { readonly before: string; readonly after: string; readonly isEverywhere: boolean };
type Fields = Readonly<Record<string, Json>>;

/** What a call would change in a text, as far as its arguments tell: pairs of old and new. Where they are nobody knows. */
export function inputDiff(input: Json): UiHint | undefined {
  const fields = Object(input) as Fields;
  const path = pathIn(fields);
  const changes = changesIn(fields);
  if (path === undefined || changes.length === 0) return undefined;
  const diff = [`--- a/${path}`, `+++ b/${path}`, ...changes.map(hunkOf)].join("\n");
  return { kind: "diff", props: { path, diff: `${diff}\n` } };
}

/** A content that a call would write. What is there before it is not in the arguments, so this is no difference. */
export function inputContent(input: Json): string | undefined {
  const fields = Object(input) as Fields;
  const isAlone = pathIn(fields) !== undefined && changesIn(fields).length === 0;
  return isAlone && typeof fields.content === "string" ? fields.content : undefined;
}

const pathIn = ({ path }: Fields): string | undefined => (typeof path === "string" ? path : undefined);

function changesIn(fields: Fields): readonly Change[] {
  if (Array.isArray(fields.edits))
    return fields.edits.flatMap((edit: Json) => changesIn(Object(edit) as Fields));
  const before = fields.find ?? fields.old_text ?? fields.oldText ?? fields.old_string;
  const after = fields.replace ?? fields.new_text ?? fields.newText ?? fields.new_string;
  if (typeof before !== "string" || typeof after !== "string") return [];
  return [{ before, after, isEverywhere: fields.all === true }];
}

/** What both begin and end with is no change. */
function hunkOf({ before, after, isEverywhere }: Change): string {
  const [old, fresh] = [linesOf(before), linesOf(after)];
  const most = Math.min(old.length, fresh.length);
  let head = 0;
  while (head < most && old[head] === fresh[head]) head++;
  let tail = 0;
  while (tail < most - head && old.at(-1 - tail) === fresh.at(-1 - tail)) tail++;
  const [oldEnd, freshEnd] = [old.length - tail, fresh.length - tail];
  return [
    // From line 0: that is no place, and so no line gets a number.
    `@@ -0,${old.length} +0,${fresh.length} @@${isEverywhere ? " wherever it is found" : ""}`,
    ...old.slice(0, head).map((line) => ` ${line}`),
    ...old.slice(head, oldEnd).map((line) => `-${line}`),
    ...fresh.slice(head, freshEnd).map((line) => `+${line}`),
    ...old.slice(oldEnd).map((line) => ` ${line}`),
  ].join("\n");
}

const linesOf = (text: string): readonly string[] => (text === "" ? [] : text.replace(/\n$/, "").split("\n"));
