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

function hunkOf({ before, after }: Change): string {
  const removed = linesOf(before);
  const added = linesOf(after);
  return [
    `@@ -1,${removed.length} +1,${added.length} @@`,
    ...removed.map((line) => `-${line}`),
    ...added.map((line) => `+${line}`),
  ].join("\n");
}

const linesOf = (text: string): readonly string[] => (text === "" ? [] : text.replace(/\n$/, "").split("\n"));
