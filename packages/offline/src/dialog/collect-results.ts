import { type Entry, getCalls, isRecord, type Json, type ResultEntry, toPlainText } from "capstan";

export type Item = { readonly [key: string]: Json };

/** A successful result with its items and the input of its call. */
export type KnownResult = {
  readonly at: number;
  readonly name: string;
  readonly input: Item;
  readonly data: Json;
  readonly items: readonly Item[];
};

/** Limits the work for long conversations. */
const maxResults = 30;

/** The successful results of the conversation, newest first. */
export function collectResults(history: readonly Entry[]): KnownResult[] {
  const results: KnownResult[] = [];
  for (let at = history.length - 1; at >= 0 && results.length < maxResults; at--) {
    const entry = history[at];
    if (entry?.type !== "result" || entry.status !== "ok") continue;
    const data = getData(entry) ?? null;
    const items = data === null ? parseTextItems(toPlainText(entry.content)) : extractItems(data);
    results.push({ at, name: entry.name, input: findCallInput(history, at), data, items });
  }
  return results;
}

function findCallInput(history: readonly Entry[], at: number): Item {
  const result = history[at] as ResultEntry;
  for (let before = at - 1; before >= 0; before--) {
    const entry = history[before];
    if (entry?.type !== "assistant") continue;
    return getCalls(entry).find(({ id }) => id === result.callId)?.input ?? {};
  }
  return {};
}

const contentCache = new WeakMap<ResultEntry, Json | undefined>();

/** The data of a result, or its content parsed as JSON. */
export function getData(entry: ResultEntry): Json | undefined {
  if (entry.data !== undefined) return entry.data;
  if (!contentCache.has(entry)) contentCache.set(entry, parseData(toPlainText(entry.content).trim()));
  return contentCache.get(entry);
}

function parseData(text: string): Json | undefined {
  const parsed = parseJsonText(text);
  return isRecord(parsed) && parsed.data !== undefined && "message" in parsed
    ? (parsed.data as Json)
    : parsed;
}

/** Parses a text that is a JSON array or object. */
export function parseJsonText(text: string): Json | undefined {
  if (!/^[[{]/u.test(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // plain text that starts with a bracket
  }
}

/** The items in the data: the records of its lists, or the record itself. */
export function extractItems(data: Json | undefined): Item[] {
  if (Array.isArray(data)) return data.filter(isRecord) as Item[];
  if (!isRecord(data)) return [];
  const listed = Object.values(data).flatMap((value) => (Array.isArray(value) ? value.filter(isRecord) : []));
  return (listed.length > 0 ? listed : [data]) as Item[];
}

/** The items of a text that consists of nothing but a list. */
export function parseTextItems(text: string): Item[] {
  const paths = parsePathItems(text);
  return paths.length > 0 ? paths : parseNumberedItems(text);
}

/** Parses numbered items such as "1. Frost\n2. Rain" or "Kept as 7: rain". */
function parseNumberedItems(text: string): Item[] {
  const lines = text.slice(0, 20_000).trim().split("\n");
  const kept = /\b(?:as|id|number)\s+#?(\d+):\s+(\S.*)$/iu;
  const items = lines.flatMap((line) => {
    const found = /^(\d+)[.:)]\s+(\S.*)$/u.exec(line) ?? (lines.length === 1 ? kept.exec(line) : null);
    return found ? [{ id: Number(found[1]), text: found[2] ?? "" }] : [];
  });
  return items.length < lines.length ? [] : items;
}

/** Parses a text in which every line is a path. */
function parsePathItems(text: string): Item[] {
  const lines = text.slice(0, 20_000).split("\n");
  return lines.every((line) => /^\S+(?:\.\w{1,8}|\/)$/u.test(line)) ? lines.map((path) => ({ path })) : [];
}

const nameKeys = ["name", "title", "label", "path", "subject"];

/** The display name of an item: its own name, a name in a nested record, or its id. */
export function getItemName(item: Item): string | undefined {
  const bags = [item, ...Object.values(item).filter(isRecord)] as Item[];
  const named = [...bags.flatMap((bag) => nameKeys.map((key) => bag[key])), item.id];
  return named.find((value) => typeof value === "string" && value !== "") as string | undefined;
}
