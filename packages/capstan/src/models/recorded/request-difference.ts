import { isRecord, type Json } from "../../json.ts";

/** Characters shown of each value. */
const longestShown = 80;
/** Characters shown before the place where two texts part. */
const shownBefore = 20;

/** The text that agrees with this one the longest; canonical requests begin with their history. */
export function nearestTo(text: string, candidates: Iterable<string>): string | undefined {
  let nearest: string | undefined;
  let longest = -1;
  for (const candidate of candidates) {
    const length = commonLength(text, candidate);
    if (length > longest) [nearest, longest] = [candidate, length];
  }
  return nearest;
}

/** Where two values first differ, and what each has there: `history[2].content: recorded "a", asked "b"`. */
export function firstDifference(recorded: Json, asked: Json): string {
  const found = differenceAt("", recorded, asked);
  if (!found) return "nothing";
  const { path, values } = found;
  const [before, now] = values;
  const from =
    typeof before === "string" && typeof now === "string"
      ? Math.max(0, commonLength(before, now) - shownBefore)
      : 0;
  return `${path || "its root"}: recorded ${shown(before, from)}, asked ${shown(now, from)}`;
}

type Difference = { readonly path: string; readonly values: readonly [Json | undefined, Json | undefined] };

function differenceAt(path: string, left: Json | undefined, right: Json | undefined): Difference | undefined {
  if (Array.isArray(left) && Array.isArray(right)) {
    for (let at = 0; at < Math.max(left.length, right.length); at += 1) {
      const found = differenceAt(`${path}[${at}]`, left[at], right[at]);
      if (found) return found;
    }
    return undefined;
  }
  if (isRecord(left) && isRecord(right)) {
    for (const key of new Set([...Object.keys(left), ...Object.keys(right)].sort())) {
      const found = differenceAt(path ? `${path}.${key}` : key, left[key] as Json, right[key] as Json);
      if (found) return found;
    }
    return undefined;
  }
  return left === right ? undefined : { path, values: [left, right] };
}

function commonLength(left: string, right: string): number {
  const most = Math.min(left.length, right.length);
  let length = 0;
  while (length < most && left.charCodeAt(length) === right.charCodeAt(length)) length += 1;
  return length;
}

function shown(value: Json | undefined, from: number): string {
  if (value === undefined) return "nothing";
  if (typeof value !== "string") return cut(JSON.stringify(value));
  return JSON.stringify(`${from > 0 ? "…" : ""}${cut(value.slice(from))}`.toWellFormed());
}

function cut(text: string): string {
  return text.length > longestShown ? `${text.slice(0, longestShown)}…` : text;
}
