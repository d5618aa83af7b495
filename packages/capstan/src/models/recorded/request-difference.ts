import { isRecord, type Json } from "../../base/json.ts";

/** Maximum characters shown of each value. */
const maxShownLength = 80;
/** Characters shown before the first difference of two texts. */
const contextLength = 20;

/** Returns the candidate with the longest common prefix; canonical requests start with their history. */
export function findNearest(text: string, candidates: Iterable<string>): string | undefined {
  let nearest: string | undefined;
  let longest = -1;
  for (const candidate of candidates) {
    const length = countCommonPrefix(text, candidate);
    if (length > longest) [nearest, longest] = [candidate, length];
  }
  return nearest;
}

/** Describes the first difference of two values: `history[2].content: recorded "a", requested "b"`. */
export function describeDifference(recorded: Json, requested: Json): string {
  const found = findDifference("", recorded, requested);
  if (!found) return "nothing";
  const { path, values } = found;
  const [before, now] = values;
  const from =
    typeof before === "string" && typeof now === "string"
      ? Math.max(0, countCommonPrefix(before, now) - contextLength)
      : 0;
  return `${path || "the root"}: recorded ${formatDifferenceValue(before, from)}, requested ${formatDifferenceValue(now, from)}`;
}

type Difference = { readonly path: string; readonly values: readonly [Json | undefined, Json | undefined] };

function findDifference(
  path: string,
  left: Json | undefined,
  right: Json | undefined,
): Difference | undefined {
  if (Array.isArray(left) && Array.isArray(right)) {
    for (let index = 0; index < Math.max(left.length, right.length); index += 1) {
      const found = findDifference(`${path}[${index}]`, left[index], right[index]);
      if (found) return found;
    }
    return undefined;
  }
  if (isRecord(left) && isRecord(right)) {
    for (const key of new Set([...Object.keys(left), ...Object.keys(right)].sort())) {
      const found = findDifference(path ? `${path}.${key}` : key, left[key] as Json, right[key] as Json);
      if (found) return found;
    }
    return undefined;
  }
  return left === right ? undefined : { path, values: [left, right] };
}

function countCommonPrefix(left: string, right: string): number {
  const maxLength = Math.min(left.length, right.length);
  let length = 0;
  while (length < maxLength && left.charCodeAt(length) === right.charCodeAt(length)) length += 1;
  return length;
}

function formatDifferenceValue(value: Json | undefined, from: number): string {
  if (value === undefined) return "nothing";
  if (typeof value !== "string") return truncateValue(JSON.stringify(value));
  return JSON.stringify(`${from > 0 ? "…" : ""}${truncateValue(value.slice(from))}`.toWellFormed());
}

function truncateValue(text: string): string {
  return text.length > maxShownLength ? `${text.slice(0, maxShownLength)}…` : text;
}
