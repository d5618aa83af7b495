import type { Json, UiHint } from "capstan";

type Change = { readonly before: string; readonly after: string };

/** What a call would change in a text, as far as its arguments tell: pairs of old and new, or a whole new content. */
export function inputDiff(input: Json): UiHint | undefined {
  const fields = Object(input) as Record<string, Json>;
  const path = typeof fields.path === "string" ? fields.path : undefined;
  const changes = changesIn(fields);
  if (path === undefined || changes.length === 0) return undefined;
  const diff = [`--- a/${path}`, `+++ b/${path}`, ...changes.map(hunkOf)].join("\n");
  return { kind: "diff", props: { path, diff: `${diff}\n` } };
}

function changesIn(fields: Record<string, Json>): readonly Change[] {
  if (Array.isArray(fields.edits))
    return fields.edits.flatMap((edit: Json) => changesIn(Object(edit) as Record<string, Json>));
  const before = fields.find ?? fields.old_text ?? fields.oldText ?? fields.old_string;
  const after = fields.replace ?? fields.new_text ?? fields.newText ?? fields.new_string;
  if (typeof before === "string" && typeof after === "string") return [{ before, after }];
  return typeof fields.content === "string" ? [{ before: "", after: fields.content }] : [];
}

/** What both begin and end with is no change. */
function hunkOf({ before, after }: Change): string {
  const [old, fresh] = [linesOf(before), linesOf(after)];
  const most = Math.min(old.length, fresh.length);
  let head = 0;
  while (head < most && old[head] === fresh[head]) head++;
  let tail = 0;
  while (tail < most - head && old.at(-1 - tail) === fresh.at(-1 - tail)) tail++;
  const [oldEnd, freshEnd] = [old.length - tail, fresh.length - tail];
  return [
    `@@ -1,${old.length} +1,${fresh.length} @@`,
    ...old.slice(0, head).map((line) => ` ${line}`),
    ...old.slice(head, oldEnd).map((line) => `-${line}`),
    ...fresh.slice(head, freshEnd).map((line) => `+${line}`),
    ...old.slice(oldEnd).map((line) => ` ${line}`),
  ].join("\n");
}

const linesOf = (text: string): readonly string[] => (text === "" ? [] : text.replace(/\n$/, "").split("\n"));
