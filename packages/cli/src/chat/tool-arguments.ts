import type { Json } from "capstan";
import { harmless, harmlessLine } from "../terminal/escape-terminal.ts";
import type { Style } from "../terminal/style.ts";
import { shortened } from "../terminal/wrap.ts";

/** The arguments of a call in one line, of at most so many columns. */
export function argumentsLine(input: Json, columns: number): string {
  if (!isFields(input)) return shortened(word(input), columns);
  const fields = Object.entries(input);
  const [only] = fields;
  const text =
    fields.length === 1 && only
      ? word(only[1])
      : fields.map(([name, value]) => `${harmlessLine(name)}: ${word(value)}`).join(", ");
  return shortened(text, columns);
}

function word(value: Json): string {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return harmlessLine((text ?? "").slice(0, 500));
}

function isFields(value: Json): value is { readonly [name: string]: Json } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** What a call is about to change, when its arguments say so: a `diff`, or `edits` of what to find and put instead. */
export function proposedDiff(input: Json): string | undefined {
  if (!isFields(input)) return undefined;
  if (typeof input.diff === "string") return input.diff;
  if (!Array.isArray(input.edits)) return undefined;
  const edits: readonly Json[] = input.edits;
  const pairs = edits.map((edit) => (isFields(edit) ? [edit.find, edit.replace] : []));
  if (pairs.length === 0 || !pairs.every(([find, replace]) => isText(find) && isText(replace)))
    return undefined;
  const where = typeof input.path === "string" ? [`--- ${input.path}`] : [];
  const changes = pairs.flatMap(([find, replace]) => [
    "@@",
    ...linesOf(find).map((line) => `-${line}`),
    ...linesOf(replace).map((line) => `+${line}`),
  ]);
  return [...where, ...changes].join("\n");
}

function isText(value: Json | undefined): boolean {
  return typeof value === "string";
}

function linesOf(value: Json | undefined): string[] {
  return typeof value === "string" && value !== "" ? value.replace(/\n$/, "").split("\n") : [];
}

/** The lines of a diff: what goes is red, what comes is green. */
export function diffLines(diff: string, style: Style): string[] {
  return harmless(diff)
    .replace(/\n+$/, "")
    .split("\n")
    .map((line) => {
      if (/^(---|\+\+\+|@@|diff )/.test(line)) return style.dim(line);
      if (line.startsWith("+")) return style.green(line);
      return line.startsWith("-") ? style.red(line) : line;
    });
}
