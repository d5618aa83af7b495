import { isRecord, type Json } from "../../json.ts";
import { nameOf } from "./refer-back.ts";
import { nameWords } from "./words.ts";

const mostItems = 6;
const mostScalars = 12;
const mostCharacters = 160;

export type DescribeOptions = { readonly hideIds: boolean };

/** Data in plain words: counts, names with a few properties, values with their names. Says nothing that is not in it. */
export function describeData(data: Json, options: DescribeOptions): string {
  if (Array.isArray(data)) return describeList("result", data, options);
  if (!isRecord(data)) return scalar(data as Json);
  const entries = Object.entries(data as { readonly [key: string]: Json }).filter(([key]) =>
    isShown(key, options),
  );
  const lines = entries.flatMap(([key, value]) => {
    if (isEmpty(value)) return Array.isArray(value) ? [`No ${label(key)}.`] : [];
    if (Array.isArray(value)) return [describeList(label(key), value, options)];
    if (isRecord(value))
      return [`${capitalised(label(key))}: ${properties(value as Item, { ...options, most: 8 })}.`];
    return [`${capitalised(label(key))}: ${scalar(value)}.`];
  });
  // One thing with a name reads better as one line.
  const name = nameOf(data as Item);
  const isFlat = entries.every(([, value]) => !Array.isArray(value) && !isRecord(value));
  if (name !== undefined && isFlat) return `${describeItem(data as Item, { ...options, most: 6 })}.`;
  return lines.join("\n");
}

type Item = { readonly [key: string]: Json };
type ItemOptions = DescribeOptions & { readonly most: number };

function describeList(name: string, list: readonly Json[], options: DescribeOptions): string {
  if (list.length === 0) return `No ${name}.`;
  const records = list.filter(isRecord) as Item[];
  if (records.length < list.length) {
    const shown = list.slice(0, mostScalars).map(scalar).join(", ");
    return `${capitalised(name)}: ${shown}${list.length > mostScalars ? " and more" : ""}.`;
  }
  const lines = records.slice(0, mostItems).map((item) => `- ${describeItem(item, { ...options, most: 3 })}`);
  const head = `${list.length} ${list.length === 1 ? singular(name) : plural(name)}:`;
  return [head, ...lines, ...(list.length > mostItems ? ["- and more"] : [])].join("\n");
}

function describeItem(item: Item, options: ItemOptions): string {
  const name = nameOf(item);
  const rest = properties(item, options);
  return name === undefined ? rest : rest === "" ? name : `${name} (${rest})`;
}

function properties(item: Item, { most, ...options }: ItemOptions): string {
  const name = nameOf(item);
  return flat(item)
    .filter(([key, value]) => isShown(key, options) && value !== name && !isEmpty(value))
    .slice(0, most)
    .map(([key, value]) => (typeof value === "string" ? scalar(value) : `${label(key)} ${scalar(value)}`))
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
  !/(?:I|_i)ds?$/u.test(key) &&
  !(hideIds && key === "id") &&
  !/^(?:ui|success|ok|status|message)$/u.test(key);

const isEmpty = (value: Json): boolean =>
  value === null || value === "" || (Array.isArray(value) && value.length === 0);

function scalar(value: Json): string {
  if (Array.isArray(value)) return value.map(scalar).join(" and ");
  const text =
    typeof value === "string"
      ? value
      : typeof value === "boolean"
        ? value
          ? "yes"
          : "no"
        : JSON.stringify(value);
  return text.length > mostCharacters ? `${text.slice(0, mostCharacters - 1).toWellFormed()}…` : text;
}

const label = (key: string): string =>
  key
    .replace(/([\p{Ll}\p{N}])(\p{Lu})/gu, "$1 $2")
    .replace(/[_-]+/gu, " ")
    .toLowerCase();
const capitalised = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
const singular = (name: string): string => (name.includes(" ") ? name : (nameWords(name)[0] ?? name));
const plural = (name: string): string => (/s$|data$|found$/u.test(name) ? name : `${name}s`);
