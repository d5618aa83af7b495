import { isRecord, type Json } from "capstan";
import { getItemName, type Item } from "../dialog/collect-results.ts";
import { formatName, toStem } from "../language/words.ts";
import { isIdName } from "../matching/properties.ts";
import { isMeasure, stripUnit, withUnit } from "./units.ts";

const maxItems = 8;
const maxScalars = 20;
const maxScalarCharacters = 200;

export type DescribeOptions = {
  readonly hideIds: boolean;
  /** Text already in the answer, which is not repeated. */
  readonly said?: string;
  /** True if nothing was found, and the lists are alternatives. */
  readonly isOffer?: boolean;
  /** Total number of items when the list contains only some of them. */
  readonly total?: number;
};

/** Describes data in plain text: counts, names with a few properties, and labeled values. Adds no text. */
export function describeData(data: Json, options: DescribeOptions): string {
  if (Array.isArray(data)) return describeList("result", data, options);
  if (!isRecord(data)) return isAlreadySaid(data as Json, options) ? "" : formatScalar(data as Json);
  const item = data as Item;
  const entries = Object.entries(item).filter(
    ([key, value]) => isShown(key, options) && !(isTold(value) && typeof item.note === "string"),
  );
  // A single named item reads better as one line.
  const isFlat = entries.every(([, value]) => !hasRecords(value));
  if (getItemName(item) !== undefined && isFlat && !isAlreadySaid(getItemName(item) ?? "", options))
    return endSentence(describeItem(item, { ...options, maxProperties: 8 }));
  const count = findCount(entries);
  const told = { ...options, ...(count && { total: Number(count[1]) }) };
  return entries
    .filter((entry) => entry !== count)
    .flatMap(([key, value]) => describeEntry(key, value, told))
    .filter((line) => line !== "")
    .join("\n");
}

/** True for a value that only repeats what a note says: nothing, or yes or no. */
const isTold = (value: Json): boolean => isEmpty(value) || value === 0 || typeof value === "boolean";

type Entry = readonly [key: string, value: Json];

/** A count next to exactly one list is the total of that list. */
function findCount(entries: readonly Entry[]): Entry | undefined {
  const lists = entries.filter(([, value]) => Array.isArray(value) && hasRecords(value));
  return lists.length === 1
    ? entries.find(([key, value]) => typeof value === "number" && /count|total/iu.test(key))
    : undefined;
}

const hasRecords = (value: Json): boolean =>
  isRecord(value) || (Array.isArray(value) && value.some(isRecord));

function describeEntry(key: string, value: Json, options: DescribeOptions): string[] {
  if (isEmpty(value)) return Array.isArray(value) && !options.said ? [`No ${formatName(key)}.`] : [];
  if (Array.isArray(value)) return [describeList(formatName(key), value, options)];
  if (isRecord(value)) {
    const inner = value as Item;
    const name = getItemName(inner);
    if (name !== undefined && isAlreadySaid(name, options)) return [];
    const told = describeItem(inner, { ...options, maxProperties: 12 });
    return told === "" ? [] : [endSentence(`${capitalize(formatName(key))}: ${told}`)];
  }
  // The message already reports success or failure, and an empty result.
  const isRedundant = options.said && (typeof value === "boolean" || value === 0 || key === "id");
  if (isRedundant || isAlreadySaid(value, options)) return [];
  const counted = typeof value === "number" ? /^(\p{Ll}+(?<!ed))Count$/u.exec(key)?.[1] : undefined;
  if (counted !== undefined) return [`${value} ${value === 1 ? counted : toPluralName(counted)}.`];
  // A note is a separate sentence.
  if (key === "note" && typeof value === "string") return [endSentence(value)];
  return [
    endSentence(`${capitalize(formatName(stripUnit(key)))}: ${withUnit(key, value, formatScalar(value))}`),
  ];
}

type ItemOptions = DescribeOptions & { readonly maxProperties: number };

function describeList(name: string, list: readonly Json[], options: DescribeOptions): string {
  if (list.length === 0) return `No ${name}.`;
  const records = list.filter(isRecord) as Item[];
  if (records.length < list.length) return describeScalars(name, list, options);
  const told = records.filter((item) => !isAlreadySaid(getHeadline(item) ?? "", options));
  if (options.said && told.length === 0) return "";
  const lines = records
    .slice(0, maxItems)
    .map((item) => `- ${describeItem(item, { ...options, maxProperties: 4 })}`);
  const left = list.length - lines.length;
  const { said, isOffer = false, total = list.length } = options;
  const number = isOffer
    ? "Available"
    : total > list.length
      ? `${list.length} of ${total}`
      : `${list.length}`;
  const head = said ? [] : [`${number} ${total === 1 ? toSingularName(name) : toPluralName(name)}:`];
  return [...head, ...lines, ...(left > 0 ? [`- and ${left} more`] : [])].join("\n");
}

function describeScalars(name: string, list: readonly Json[], options: DescribeOptions): string {
  if (list.every((value) => isAlreadySaid(value, options))) return "";
  const shown = list.slice(0, maxScalars).map(formatScalar);
  const left = list.length - shown.length;
  // Sentences get a line each; numbered ones keep their numbers.
  if (shown.some((text) => /[.!?]$/u.test(text))) {
    const lines = shown.map((text) => (/^\d+\./u.test(text) ? text : `- ${text}`));
    return [...lines, ...(left > 0 ? [`- and ${left} more`] : [])].join("\n");
  }
  return `${capitalize(name)}: ${shown.join(", ")}${left > 0 ? ` and ${left} more` : ""}.`;
}

/** An item as its name and a few of its properties. */
export function describeItem(item: Item, options: ItemOptions): string {
  const head = getHeadline(item);
  const rest = formatItemProperties(item, head, options);
  return head === undefined ? rest : rest === "" ? head : `${head} (${rest})`;
}

/** The first words of a line about an item. */
export const getHeadline = (item: Item): string | undefined =>
  getItemName(item) ?? Object.values(item).find((value) => typeof value === "string");

function formatItemProperties(
  item: Item,
  head: string | undefined,
  { maxProperties, ...options }: ItemOptions,
): string {
  const shown = flattenItem(item)
    .filter(([key, value]) => isShown(key, options) && value !== head && !isEmpty(value))
    // Lists come last: they are long.
    .toSorted(([, left], [, right]) => Number(Array.isArray(left)) - Number(Array.isArray(right)));
  const texts = shown.flatMap(([, value]) => (typeof value === "string" ? value : []));
  const isRepeated = (value: Json) =>
    typeof value === "number" && texts.some((text) => text.startsWith(`${value} `));
  return shown
    .filter(([, value]) => !isRepeated(value))
    .slice(0, maxProperties)
    .map(([key, value]) => {
      const text = formatScalar(value).replace(/\.$/u, "");
      if (typeof value === "string") return text;
      if (Array.isArray(value)) return `${formatName(key)}: ${text}`;
      return isMeasure(key, value) ? withUnit(key, value, text) : `${formatName(key)} ${text}`;
    })
    .join(", ");
}

/** Includes the properties of nested records such as `data`, `properties` and `attributes`. */
function flattenItem(item: Item): (readonly [string, Json])[] {
  return Object.entries(item).flatMap(([key, value]): (readonly [string, Json])[] =>
    isRecord(value) ? Object.entries(value as Item).filter(([, inner]) => !isRecord(inner)) : [[key, value]],
  );
}

/** Shows `id`, which users may have chosen, but no foreign keys. */
const isShown = (key: string, { hideIds }: DescribeOptions): boolean =>
  !(isIdName(key) && (hideIds || key !== "id")) && !/^(?:ui|success|ok|status|message|next)$/u.test(key);

const isEmpty = (value: Json): boolean =>
  value === null || value === "" || (Array.isArray(value) && value.length === 0);

const isAlreadySaid = (value: Json, { said = "" }: DescribeOptions): boolean =>
  said !== "" && said.toLowerCase().includes(String(value).toLowerCase().replace(/\.$/u, ""));

function formatScalar(value: Json): string {
  if (Array.isArray(value)) return value.slice(0, maxScalars).map(formatScalar).join(", ");
  if (isRecord(value))
    return (
      getHeadline(value as Item) ??
      Object.values(value as Item)
        .map(formatScalar)
        .join(" ")
    );
  const text = typeof value === "boolean" ? (value ? "yes" : "no") : String(value);
  return text.length > maxScalarCharacters
    ? `${text.slice(0, maxScalarCharacters - 1).toWellFormed()}…`
    : text;
}

const endSentence = (text: string): string => (/[.!?…]$/u.test(text) ? text : `${text}.`);
const capitalize = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
const toSingularName = (name: string): string => name.replace(/\S+$/u, toStem);
const toPluralName = (name: string): string => (/s$|data$|found$|people$/u.test(name) ? name : `${name}s`);
