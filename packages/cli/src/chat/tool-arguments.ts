import { escapeInvisible, type Json, type UiHint } from "capstan";
import { escapeTerminal, escapeTerminalLine } from "../terminal/escape-terminal.ts";
import type { Style } from "../terminal/style.ts";
import { truncateColumns } from "../terminal/wrap.ts";

/** Formats the arguments of a call in one line of at most `columns`. */
export function formatArguments(input: Json, columns: number): string {
  if (!isJsonObject(input)) return truncateColumns(formatArgument(input), columns);
  const fields = Object.entries(input);
  const [only] = fields;
  const text =
    fields.length === 1 && only
      ? formatArgument(only[1])
      : fields.map(([name, value]) => `${escapeTerminalLine(name)}: ${formatArgument(value)}`).join(", ");
  return truncateColumns(text, columns);
}

function formatArgument(value: Json): string {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return escapeTerminalLine((text ?? "").slice(0, 500));
}

function isJsonObject(value: Json): value is { readonly [name: string]: Json } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns the script that a call runs, with invisible characters escaped, if it has no other arguments. */
export function getScript(input: Json): string | undefined {
  if (!isJsonObject(input) || typeof input.script !== "string" || Object.keys(input).length > 1)
    return undefined;
  return input.script.split("\n").map(escapeInvisible).join("\n");
}

/** Returns the diff that the tool computed for an approval request. */
export function getShownDiff(ui: UiHint | undefined): string | undefined {
  if (ui?.kind !== "diff" || !isJsonObject(ui.props)) return undefined;
  return typeof ui.props.diff === "string" && ui.props.diff !== "" ? ui.props.diff : undefined;
}

/** Builds a diff of the change that a call proposes, from a `diff` argument or `edits` with find and replace. */
export function buildProposedDiff(input: Json): string | undefined {
  if (!isJsonObject(input)) return undefined;
  if (typeof input.diff === "string") return input.diff;
  if (!Array.isArray(input.edits)) return undefined;
  const edits: readonly Json[] = input.edits;
  const pairs = edits.map((edit) => (isJsonObject(edit) ? [edit.find, edit.replace] : []));
  if (pairs.length === 0 || !pairs.every(([find, replace]) => isString(find) && isString(replace)))
    return undefined;
  const where = typeof input.path === "string" ? [`--- ${input.path}`] : [];
  const changes = pairs.flatMap(([find, replace]) => [
    "@@",
    ...splitDiffLines(find).map((line) => `-${line}`),
    ...splitDiffLines(replace).map((line) => `+${line}`),
  ]);
  return [...where, ...changes].join("\n");
}

function isString(value: Json | undefined): boolean {
  return typeof value === "string";
}

function splitDiffLines(value: Json | undefined): string[] {
  return typeof value === "string" && value !== "" ? value.replace(/\n$/, "").split("\n") : [];
}

/** Formats a diff: removed lines red, added lines green. */
export function formatDiff(diff: string, style: Style): string[] {
  return escapeTerminal(diff)
    .replace(/\n+$/, "")
    .split("\n")
    .map((line) => {
      if (/^(---|\+\+\+|@@|diff )/.test(line)) return style.dim(line);
      if (line.startsWith("+")) return style.green(line);
      return line.startsWith("-") ? style.red(line) : line;
    });
}
