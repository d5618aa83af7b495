import { type Entry, getCalls, isRecord, type Json, type ResultEntry, toPlainText } from "capstan";

export type Item = { readonly [key: string]: Json };

/** What a call gave: the things in it, and the texts that it was called with. */
export type KnownResult = {
  readonly at: number;
  readonly name: string;
  readonly input: Item;
  readonly data: Json;
  readonly items: readonly Item[];
};

/** Older results are not looked at: a long conversation must not get slow. */
const mostResults = 30;

/** What the results of the conversation hold, the newest first. */
export function knownResults(history: readonly Entry[]): KnownResult[] {
  const results: KnownResult[] = [];
  for (let at = history.length - 1; at >= 0 && results.length < mostResults; at--) {
    const entry = history[at];
    if (entry?.type !== "result" || entry.status !== "ok") continue;
    const data = dataOf(entry) ?? null;
    const items = data === null ? toldIn(toPlainText(entry.content)) : itemsIn(data);
    results.push({ at, name: entry.name, input: inputOf(history, at), data, items });
  }
  return results;
}

function inputOf(history: readonly Entry[], at: number): Item {
  const result = history[at] as ResultEntry;
  for (let before = at - 1; before >= 0; before--) {
    const entry = history[before];
    if (entry?.type !== "assistant") continue;
    return getCalls(entry).find(({ id }) => id === result.callId)?.input ?? {};
  }
  return {};
}

const parsedContent = new WeakMap<ResultEntry, Json | undefined>();

/** What a result holds: its data, or the JSON that its content is. */
export function dataOf(entry: ResultEntry): Json | undefined {
  if (entry.data !== undefined) return entry.data;
  if (!parsedContent.has(entry)) parsedContent.set(entry, dataIn(toPlainText(entry.content).trim()));
  return parsedContent.get(entry);
}

function dataIn(text: string): Json | undefined {
  const parsed = jsonIn(text);
  return isRecord(parsed) && parsed.data !== undefined && "message" in parsed
    ? (parsed.data as Json)
    : parsed;
}

/** The list or record that a text is. */
export function jsonIn(text: string): Json | undefined {
  if (!/^[[{]/u.test(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // words that begin with a bracket
  }
}

/** The things in the data: the records of its lists, or the record itself. */
export function itemsIn(data: Json | undefined): Item[] {
  if (Array.isArray(data)) return data.filter(isRecord) as Item[];
  if (!isRecord(data)) return [];
  const listed = Object.values(data).flatMap((value) => (Array.isArray(value) ? value.filter(isRecord) : []));
  return (listed.length > 0 ? listed : [data]) as Item[];
}

/** The things that a text tells of, where it is nothing but a list of them. */
function toldIn(text: string): Item[] {
  const paths = pathsIn(text);
  return paths.length > 0 ? paths : numberedIn(text);
}

/** "1. Frost\n2. Rain" has things with numbers, and so has "Kept as 7: rain". */
function numberedIn(text: string): Item[] {
  const lines = text.slice(0, 20_000).trim().split("\n");
  const kept = /\b(?:as|id|number)\s+#?(\d+):\s+(\S.*)$/iu;
  const items = lines.flatMap((line) => {
    const found = /^(\d+)[.:)]\s+(\S.*)$/u.exec(line) ?? (lines.length === 1 ? kept.exec(line) : null);
    return found ? [{ id: Number(found[1]), text: found[2] ?? "" }] : [];
  });
  return items.length < lines.length ? [] : items;
}

/** A text of nothing but paths is a list of them. */
function pathsIn(text: string): Item[] {
  const lines = text.slice(0, 20_000).split("\n");
  return lines.every((line) => /^\S+(?:\.\w{1,8}|\/)$/u.test(line)) ? lines.map((path) => ({ path })) : [];
}

const naming = ["name", "title", "label", "path", "subject"];

/** What people call a thing: its name, or that in a bag of properties, or else its id. */
export function nameOf(item: Item): string | undefined {
  const bags = [item, ...Object.values(item).filter(isRecord)] as Item[];
  const named = [...bags.flatMap((bag) => naming.map((key) => bag[key])), item.id];
  return named.find((value) => typeof value === "string" && value !== "") as string | undefined;
}
