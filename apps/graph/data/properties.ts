import type { Properties } from "../network.ts";

type Value = string | number | boolean;
const maxTextLength = 2000;

/** Converts the fields of a node or edge. Empty ones are left out; lists and objects become JSON. */
export function toProperties(fields: Iterable<readonly [name: string, value: unknown]>): Properties {
  const properties: [name: string, value: Value][] = [];
  for (const [name, value] of fields) {
    const converted = toValue(value);
    if (converted !== undefined && converted !== "") properties.push([toPropertyName(name), converted]);
  }
  return Object.fromEntries(properties);
}

function toValue(value: unknown): Value | undefined {
  if (value === null || value === undefined) return undefined;
  if (typeof value === "boolean") return value;
  if (typeof value === "number") return Number.isFinite(value) ? value : String(value); // JSON has no infinity
  const text = typeof value === "string" ? value.trim() : JSON.stringify(value);
  return text.length > maxTextLength ? `${text.slice(0, maxTextLength - 1).toWellFormed()}…` : text;
}

/** A name that selectors can use: "First name" becomes `First_name`. */
const toPropertyName = (name: string): string => {
  const word = name.trim().replaceAll(/[\s'"()=!<>]+/gu, "_");
  return commonNames.includes(word.toLowerCase()) ? word.toLowerCase() : word;
};

/** Spelled in lower case in all graphs, because the tools and users of the app say `type` and `name`. */
const commonNames = ["type", "name", "label"];

/** Converts the text of a table: "5" is a number, "true" a boolean. */
export function parseText(text: string): Value {
  const plain = text.trim();
  if (/^(?:true|false)$/iu.test(plain)) return plain.toLowerCase() === "true";
  // No leading zeros: a zip code or a phone number is not a number.
  return /^-?(?:0|[1-9]\d{0,14})(?:\.\d+)?$/u.test(plain) ? Number(plain) : plain;
}

const typeNames = ["kind", "category", "class", "group", "node_type", "nodetype", "labels"];
const nameNames = ["title", "full_name", "fullname", "display_name", "displayname"];
const relationNames = ["relation", "relationship", "predicate", "kind", "label", "category"];

/** Adds `type` and `name`, if another property tells them. */
export function withTypeAndName(data: Properties, fallbackType: string): Properties {
  const type = data.type ?? findText(data, typeNames) ?? fallbackType;
  const name = data.name ?? data.label ?? findText(data, nameNames);
  return { ...data, type, ...(name !== undefined && { name }) };
}

/** Adds the `type` of an edge, if another property tells it. */
export function withRelation(data: Properties, fallbackType?: string): Properties {
  const type = data.type ?? findText(data, relationNames) ?? fallbackType;
  return { ...data, ...(type !== undefined && { type }) };
}

/** A number alone says little: the group 2 is of the type "group 2". */
function findText(data: Properties, names: readonly string[]): string | undefined {
  const keys = Object.keys(data);
  for (const name of names) {
    const key = keys.find((candidate) => candidate.toLowerCase() === name);
    const value = key === undefined ? undefined : data[key];
    if (typeof value === "string" && value.length <= 100) return value;
    if (typeof value === "number") return `${name} ${value}`;
  }
  return undefined;
}
