import { isRecord, type Json, type ToolSpec, toPlainText } from "capstan";
import { type Call, isNew } from "./done-calls.ts";
import type { Input } from "./fill-arguments.ts";
import type { Situation, Step } from "./plan-step.ts";
import { propertiesOf } from "./properties.ts";
import { isPathName } from "./read-value.ts";
import { nameWords } from "./words.ts";

const gap = "…";

/**
 * A text of an example may have a gap, "…", that stands for what a file has there: the file is read first, and what it
 * has takes the place of the gap. Nothing for a call without gaps.
 */
export function readFirst({ name, input }: Call, { request: { tools }, done }: Situation): Step | undefined {
  const pattern = textsIn(input).find((text) => text.includes(gap));
  const key = Object.keys(input).find((argument) => isPathName(argument));
  if (pattern === undefined || key === undefined) return undefined;
  const read = done.find(({ call, result }) => result?.status === "ok" && call.input[key] === input[key]);
  const made = done.map(({ call }) => call);
  if (!read?.result) {
    const tool = tools.find((candidate) => isReader(candidate, key));
    const call = tool && { name: tool.name, input: { [key]: input[key] ?? "" } };
    return call && isNew(call, made)
      ? { type: "call", calls: [call], why: `${name} needs the words of the file: it is read first.` }
      : { type: "answer" };
  }
  const found = wordsInGap(pattern, toPlainText(read.result.content));
  if (found === undefined)
    return { type: "tell", text: `"${pattern}" is not in ${String(input[key])}, so nothing was changed.` };
  const call = { name, input: filledIn(input, found) as Input };
  return isNew(call, made)
    ? { type: "call", calls: [call], why: `The file has "${pattern.replace(gap, () => found)}".` }
    : { type: "answer" };
}

const isReader = (tool: ToolSpec, key: string): boolean => {
  const required = propertiesOf(tool).filter((property) => property.required);
  const isReading = nameWords(tool.name).some((part) => /^(?:read|open|get|fetch)$/u.test(part));
  return isReading && required.length === 1 && required[0]?.name === key;
};

/** What a text has, within one line, where the first line of the pattern has its gap. */
function wordsInGap(pattern: string, text: string): string | undefined {
  const [line = ""] = pattern.split("\n");
  const [before = "", after = ""] = line.split(gap);
  const start = text.indexOf(before);
  const end = start < 0 ? -1 : text.indexOf(after, start + before.length);
  const found = end < 0 ? undefined : text.slice(start + before.length, end);
  return found?.includes("\n") ? undefined : found;
}

const textsIn = (value: Json): string[] => {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
};

function filledIn(value: Json, found: string): Json {
  if (typeof value === "string") return value.replaceAll(gap, () => found);
  if (Array.isArray(value)) return value.map((part: Json) => filledIn(part, found));
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value as Input).map(([key, part]) => [key, filledIn(part, found)]),
  );
}
