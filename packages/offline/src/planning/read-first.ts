import { isRecord, type Json, type ToolSpec, toPlainText } from "capstan";
import { type Call, isNewCall } from "../dialog/call-records.ts";
import type { Input } from "../dialog/fill-arguments.ts";
import { isPathName } from "../language/read-value.ts";
import { toNameStems } from "../language/words.ts";
import { getProperties } from "../matching/properties.ts";
import type { PlanContext, Step } from "./step.ts";

const gapMarker = "…";

/**
 * Reads a file first if a text of the example has a gap, "…", and fills the gap with the text of the file at that
 * position. Undefined for a call without gaps.
 */
export function planFileRead(
  { name, input }: Call,
  { request: { tools }, records }: PlanContext,
): Step | undefined {
  const pattern = collectResultTexts(input).find((text) => text.includes(gapMarker));
  const key = Object.keys(input).find((argument) => isPathName(argument));
  if (pattern === undefined || key === undefined) return undefined;
  const read = records.find(({ call, result }) => result?.status === "ok" && call.input[key] === input[key]);
  const made = records.map(({ call }) => call);
  if (!read?.result) {
    const tool = tools.find((candidate) => isReadTool(candidate, key));
    const call = tool && { name: tool.name, input: { [key]: input[key] ?? "" } };
    return call && isNewCall(call, made)
      ? { type: "call", calls: [call], why: `${name} needs the text of the file, so the file is read first.` }
      : { type: "answer" };
  }
  const found = findGapText(pattern, toPlainText(read.result.content));
  if (found === undefined)
    return { type: "tell", text: `"${pattern}" is not in ${String(input[key])}, so nothing was changed.` };
  const call = { name, input: fillGaps(input, found) as Input };
  return isNewCall(call, made)
    ? { type: "call", calls: [call], why: `The file has "${pattern.replace(gapMarker, () => found)}".` }
    : { type: "answer" };
}

const isReadTool = (tool: ToolSpec, key: string): boolean => {
  const required = getProperties(tool).filter((property) => property.required);
  const isReading = toNameStems(tool.name).some((part) => /^(?:read|open|get|fetch)$/u.test(part));
  return isReading && required.length === 1 && required[0]?.name === key;
};

/** The text, within one line, at the position of the gap in the first line of the pattern. */
function findGapText(pattern: string, text: string): string | undefined {
  const [line = ""] = pattern.split("\n");
  const [before = "", after = ""] = line.split(gapMarker);
  const start = text.indexOf(before);
  const end = start < 0 ? -1 : text.indexOf(after, start + before.length);
  const found = end < 0 ? undefined : text.slice(start + before.length, end);
  return found?.includes("\n") ? undefined : found;
}

const collectResultTexts = (value: Json): string[] => {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(collectResultTexts) : [];
};

function fillGaps(value: Json, found: string): Json {
  if (typeof value === "string") return value.replaceAll(gapMarker, () => found);
  if (Array.isArray(value)) return value.map((part: Json) => fillGaps(part, found));
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value as Input).map(([key, part]) => [key, fillGaps(part, found)]),
  );
}
