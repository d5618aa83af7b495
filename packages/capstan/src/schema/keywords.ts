/** What a keyword holds. What is silent does not change what is valid. */
type Kind =
  | ("schema" | "schemas" | "schema map" | "dependencies" | "items")
  | ("type" | "list" | "pattern" | "format" | "reference" | "data" | "silent" | "unsupported");

const keywords: { readonly [K in Kind]: string } = {
  schema:
    "additionalItems unevaluatedItems contains additionalProperties unevaluatedProperties propertyNames not if then else",
  schemas: "prefixItems allOf anyOf oneOf",
  "schema map": "properties patternProperties dependentSchemas",
  dependencies: "dependencies dependentRequired",
  items: "items",
  type: "type",
  list: "required enum",
  pattern: "pattern",
  format: "format",
  reference: "$ref",
  data:
    "const minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength minItems maxItems " +
    "uniqueItems minContains maxContains minProperties maxProperties",
  silent:
    "$schema $id $anchor $defs definitions $comment $vocabulary title description default examples deprecated " +
    "readOnly writeOnly contentEncoding contentMediaType contentSchema $dynamicAnchor",
  // They do change what is valid, and the validator does not know them.
  unsupported: "$dynamicRef $recursiveRef",
};

/** The keywords of JSON Schema 2020-12, and those of older drafts that the validator understands. */
export const keywordKinds: ReadonlyMap<string, Kind> = new Map(
  Object.entries(keywords).flatMap(([kind, names]) => names.split(" ").map((name) => [name, kind as Kind])),
);

export const typeNames = ["string", "number", "integer", "boolean", "array", "object", "null"] as const;

const formats =
  "date time date-time duration uri uri-reference uri-template email hostname ipv4 ipv6 regex uuid json-pointer " +
  "json-pointer-uri-fragment relative-json-pointer";

/** The formats that are checked, by the names the validator has for them. */
export const checkedFormats: ReadonlyMap<string, string> = new Map([
  ...formats.split(" ").map((name) => [name, name] as const),
  // The validator's "url" takes exponential time, and is not one of JSON Schema's.
  ["url", "uri"],
]);
