import { isRecord, type Json } from "capstan";
import { type Item, nameOf } from "./known-results.ts";
import { isMeasure, measured, withoutUnit } from "./measure.ts";
import { isIdName } from "./properties.ts";
import { inWords, stemOf } from "./words.ts";

const mostItems = 8;
const mostScalars = 20;
const mostCharacters = 200;

export type DescribeOptions = {
  readonly hideIds: boolean;
  /** What has been said already need not be said again. */
  readonly said?: string;
  /** How many there are of what a list has some of. */
  readonly total?: number;
};

/** Data in plain words: counts, names with a few properties, values with their names. Says nothing that is not in it. */
export function describeData(data: Json, options: DescribeOptions): string {
  if (Array.isArray(data)) return describeList("result", data, options);
  if (!isRecord(data)) return isSaid(data as Json, options) ? "" : scalar(data as Json);
  const item = data as Item;
  const entries = Object.entries(item).filter(([key]) => isShown(key, options));
  // One thing with a name reads better as one line.
  const isFlat = entries.every(([, value]) => !hasRecords(value));
  if (nameOf(item) !== undefined && isFlat && !isSaid(nameOf(item) ?? "", options))
    return sentence(describeItem(item, { ...options, most: 8 }));
  const count = countIn(entries);
  const told = { ...options, ...(count && { total: Number(count[1]) }) };
  return entries
    .filter((entry) => entry !== count)
    .flatMap(([key, value]) => describeEntry(key, value, told))
    .filter((line) => line !== "")
    .join("\n");
}

type Entry = readonly [key: string, value: Json];

/** Beside one list of things, a count is that of the things. */
function countIn(entries: readonly Entry[]): Entry | undefined {
  const lists = entries.filter(([, value]) => Array.isArray(value) && hasRecords(value));
  return lists.length === 1
    ? entries.find(([key, value]) => typeof value === "number" && /count|total/iu.test(key))
    : undefined;
}

const hasRecords = (value: Json): boolean =>
  isRecord(value) || (Array.isArray(value) && value.some(isRecord));

function describeEntry(key: string, value: Json, options: DescribeOptions): string[] {
  if (isEmpty(value)) return Array.isArray(value) && !options.said ? [`No ${inWords(key)}.`] : [];
  if (Array.isArray(value)) return [describeList(inWords(key), value, options)];
  if (isRecord(value)) {
    const inner = value as Item;
    const name = nameOf(inner);
    if (name !== undefined && isSaid(name, options)) return [];
    const told = describeItem(inner, { ...options, most: 12 });
    return told === "" ? [] : [sentence(`${capitalised(inWords(key))}: ${told}`)];
  }
  // Whether it worked, and how little there was, a message has said already.
  const isTold = options.said && (typeof value === "boolean" || value === 0 || key === "id");
  if (isTold || isSaid(value, options)) return [];
  return [sentence(`${capitalised(inWords(withoutUnit(key)))}: ${measured(key, value, scalar(value))}`)];
}

type ItemOptions = DescribeOptions & { readonly most: number };

function describeList(name: string, list: readonly Json[], options: DescribeOptions): string {
  if (list.length === 0) return `No ${name}.`;
  const records = list.filter(isRecord) as Item[];
  if (records.length < list.length) return describeScalars(name, list, options);
  const told = records.filter((item) => !isSaid(headOf(item) ?? "", options));
  if (options.said && told.length === 0) return "";
  const lines = records.slice(0, mostItems).map((item) => `- ${describeItem(item, { ...options, most: 4 })}`);
  const left = list.length - lines.length;
  const { said, total = list.length } = options;
  const number = total > list.length ? `${list.length} of ${total}` : `${list.length}`;
  const head = said ? [] : [`${number} ${total === 1 ? singular(name) : plural(name)}:`];
  return [...head, ...lines, ...(left > 0 ? [`- and ${left} more`] : [])].join("\n");
}

function describeScalars(name: string, list: readonly Json[], options: DescribeOptions): string {
  if (list.every((value) => isSaid(value, options))) return "";
  const shown = list.slice(0, mostScalars).map(scalar);
  const left = list.length - shown.length;
  // Steps and other sentences have a line each; those that are numbered keep their numbers.
  if (shown.some((text) => /[.!?]$/u.test(text))) {
    const lines = shown.map((text) => (/^\d+\./u.test(text) ? text : `- ${text}`));
    return [...lines, ...(left > 0 ? [`- and ${left} more`] : [])].join("\n");
  }
  return `${capitalised(name)}: ${shown.join(", ")}${left > 0 ? ` and ${left} more` : ""}.`;
}

/** One thing: its name, and a few of its properties. */
export function describeItem(item: Item, options: ItemOptions): string {
  const head = headOf(item);
  const rest = properties(item, head, options);
  return head === undefined ? rest : rest === "" ? head : `${head} (${rest})`;
}

/** What a line about a thing begins with. */
export const headOf = (item: Item): string | undefined =>
  nameOf(item) ?? Object.values(item).find((value) => typeof value === "string");

function properties(item: Item, head: string | undefined, { most, ...options }: ItemOptions): string {
  const shown = flat(item)
    .filter(([key, value]) => isShown(key, options) && value !== head && !isEmpty(value))
    // Lists come last: they are long.
    .toSorted(([, left], [, right]) => Number(Array.isArray(left)) - Number(Array.isArray(right)));
  const texts = shown.flatMap(([, value]) => (typeof value === "string" ? value : []));
  const isRepeated = (value: Json) =>
    typeof value === "number" && texts.some((text) => text.startsWith(`${value} `));
  return shown
    .filter(([, value]) => !isRepeated(value))
    .slice(0, most)
    .map(([key, value]) => {
      const text = scalar(value).replace(/\.$/u, "");
      if (typeof value === "string") return text;
      if (Array.isArray(value)) return `${inWords(key)}: ${text}`;
      return isMeasure(key, value) ? measured(key, value, text) : `${inWords(key)} ${text}`;
    })
    .join(", ");
}

/** Properties in a bag of their own (`data`, `properties`, `attributes`) are the thing's properties too. */
function flat(item: Item): (readonly [string, Json])[] {
  return Object.entries(item).flatMap(([key, value]): (readonly [string, Json])[] =>
    isRecord(value) ? Object.entries(value as Item).filter(([, inner]) => !isRecord(inner)) : [[key, value]],
  );
}

/** An `id` that a person could have written is worth showing; the others are for the tools. */
const isShown = (key: string, { hideIds }: DescribeOptions): boolean =>
  !(isIdName(key) && (hideIds || key !== "id")) && !/^(?:ui|success|ok|status|message|next)$/u.test(key);

const isEmpty = (value: Json): boolean =>
  value === null || value === "" || (Array.isArray(value) && value.length === 0);

const isSaid = (value: Json, { said = "" }: DescribeOptions): boolean =>
  said !== "" && said.toLowerCase().includes(String(value).toLowerCase().replace(/\.$/u, ""));

function scalar(value: Json): string {
  if (Array.isArray(value)) return value.slice(0, mostScalars).map(scalar).join(", ");
  if (isRecord(value))
    return (
      headOf(value as Item) ??
      Object.values(value as Item)
        .map(scalar)
        .join(" ")
    );
  const text = typeof value === "boolean" ? (value ? "yes" : "no") : String(value);
  return text.length > mostCharacters ? `${text.slice(0, mostCharacters - 1).toWellFormed()}…` : text;
}

const sentence = (text: string): string => (/[.!?…]$/u.test(text) ? text : `${text}.`);
const capitalised = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
const singular = (name: string): string => name.replace(/\S+$/u, stemOf);
const plural = (name: string): string => (/s$|data$|found$|people$/u.test(name) ? name : `${name}s`);
