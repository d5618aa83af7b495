import type { Entry } from "../../kernel/history.ts";
import type { ToolSpec } from "../../kernel/model.ts";

/** The parts of a request that a provider caches, and the settings that invalidate its cache. */
export type RequestPrefix = {
  readonly model: string;
  readonly tools: readonly ToolSpec[];
  readonly instructions: string;
  /** Serialized. */
  readonly settings: string;
  readonly history: readonly Entry[];
};

export type PrefixChange = {
  readonly cause: "model" | "tools" | "instructions" | "settings" | "history";
  /** One sentence: what changed. */
  readonly message: string;
  /** Excerpts of a text at the first difference. */
  readonly quotes?: { readonly before: string; readonly after: string };
};

/**
 * Returns the first part of a request, in the order in which providers cache them, that is not the start of the next
 * request; undefined if the next request only adds to it.
 */
export function findPrefixChange(before: RequestPrefix, after: RequestPrefix): PrefixChange | undefined {
  if (before.model !== after.model)
    return { cause: "model", message: `The model changed from ${before.model} to ${after.model}.` };
  const tools = before.tools === after.tools ? undefined : describeToolChange(before.tools, after.tools);
  if (tools !== undefined) return { cause: "tools", message: tools };
  if (before.instructions !== after.instructions)
    return { cause: "instructions", ...describeTextChange(before.instructions, after.instructions) };
  if (before.settings !== after.settings)
    return {
      cause: "settings",
      message: `The settings changed from ${before.settings} to ${after.settings}.`,
    };
  const message = describeHistoryChange(before.history, after.history);
  return message === undefined ? undefined : { cause: "history", message };
}

function describeToolChange(before: readonly ToolSpec[], after: readonly ToolSpec[]): string | undefined {
  const [earlier, later] = [indexTools(before), indexTools(after)];
  const changes = [
    ...listChange(
      "added",
      [...later.keys()].filter((name) => !earlier.has(name)),
    ),
    ...listChange(
      "removed",
      [...earlier.keys()].filter((name) => !later.has(name)),
    ),
    ...listChange(
      "changed",
      [...earlier.keys()].filter((name) => isRedefined(earlier.get(name), later.get(name))),
    ),
  ];
  if (changes.length > 0) return `The tools changed: ${changes.join(", ")}.`;
  const index = before.findIndex(({ name }, position) => name !== after[position]?.name);
  return index === -1
    ? undefined
    : `The tools are in a different order: ${after[index]?.name} is now before ${before[index]?.name}.`;
}

function indexTools(tools: readonly ToolSpec[]): ReadonlyMap<string, ToolSpec> {
  return new Map(tools.map((tool) => [tool.name, tool]));
}

function isRedefined(before: ToolSpec | undefined, after: ToolSpec | undefined): boolean {
  return before !== after && !!before && !!after && JSON.stringify(before) !== JSON.stringify(after);
}

const maxNames = 5;

function listChange(change: string, names: readonly string[]): readonly string[] {
  if (names.length === 0) return [];
  const more = names.length > maxNames ? ` and ${names.length - maxNames} more` : "";
  return [`${change} ${names.slice(0, maxNames).join(", ")}${more}`];
}

function describeTextChange(before: string, after: string): Omit<PrefixChange, "cause"> {
  const at = findFirstDifference(before, after);
  const kind = textKinds.find(
    ({ pattern }) => containsPosition(before, at, pattern) && containsPosition(after, at, pattern),
  );
  const what = kind ? ` in ${kind.name}` : "";
  return {
    message: `The instructions differ${what} from character ${at + 1} on.`,
    quotes: { before: excerpt(before, at), after: excerpt(after, at) },
  };
}

function findFirstDifference(before: string, after: string): number {
  const length = Math.min(before.length, after.length);
  let at = 0;
  while (at < length && before.charCodeAt(at) === after.charCodeAt(at)) at += 1;
  return at;
}

/** Text that typically differs in every request, the most specific first. */
const textKinds: readonly { readonly name: string; readonly pattern: RegExp }[] = [
  {
    name: "a date or time",
    pattern:
      /\d{4}-\d\d-\d\d[T ]?[\d:.]*|\d{1,2}:\d\d(?::\d\d)?|\d{1,2}[./]\d{1,2}[./]\d{2,4}|\b1[5-9]\d{8}(?:\d{3})?\b|(?:\d{1,2} )?\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|(?:\d{1,2} )?\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\b\.?(?: \d{1,4})?/gi,
  },
  { name: "an id", pattern: /[0-9a-f]{8}-[0-9a-f-]{8,}|\b(?=\w*\d)\w{12,}\b/gi },
  { name: "a number", pattern: /\d+/g },
];
const contextLength = 40;

/** Whether a match of the pattern contains the position. */
function containsPosition(text: string, at: number, pattern: RegExp): boolean {
  const start = Math.max(0, at - contextLength);
  const position = at - start;
  const matches = text.slice(start, at + contextLength).matchAll(pattern);
  return [...matches].some(({ index, 0: found }) => index <= position && position <= index + found.length);
}

/** Quotes the text around a position. */
function excerpt(text: string, at: number): string {
  const start = Math.max(0, at - contextLength / 2);
  const end = Math.min(text.length, at + contextLength);
  const quoted = text.slice(start, end).toWellFormed().replace(/\s+/g, " ");
  return `"${start > 0 ? "…" : ""}${quoted}${end < text.length ? "…" : ""}"`;
}

function describeHistoryChange(before: readonly Entry[], after: readonly Entry[]): string | undefined {
  const index = before.findIndex((entry, position) => !isSameEntry(entry, after[position]));
  const [earlier, later] = [before[index], after[index]];
  if (index === -1 || !earlier) return undefined;
  if (later?.type === "summary") return `Entry ${index + 1} and later ones were replaced by a summary.`;
  if (earlier.type === "result" && later?.type === "result" && earlier.callId === later.callId)
    return `The result of ${earlier.name} in entry ${index + 1} was shortened or replaced.`;
  return `Entry ${index + 1} of the history was ${later ? "changed" : "removed"}.`;
}

function isSameEntry(before: Entry, after: Entry | undefined): boolean {
  return before === after || (after !== undefined && JSON.stringify(before) === JSON.stringify(after));
}
