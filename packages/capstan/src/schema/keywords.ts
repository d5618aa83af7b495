/** The kind of value a keyword holds. Keywords of kind `silent` do not affect validation. */
type KeywordKind =
  | ("schema" | "schemas" | "schema map" | "dependencies" | "items")
  | ("type" | "list" | "pattern" | "format" | "reference" | "data" | "silent" | "unsupported");

const keywords: { readonly [K in KeywordKind]: string } = {
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
  // These affect validation, and the validator does not support them.
  unsupported: "$dynamicRef $recursiveRef",
};

/** Keywords of JSON Schema 2020-12, and of older drafts that the validator supports. */
export const keywordKinds: ReadonlyMap<string, KeywordKind> = new Map(
  Object.entries(keywords).flatMap(([kind, names]) =>
    names.split(" ").map((name) => [name, kind as KeywordKind]),
  ),
);

export const typeNames = ["string", "number", "integer", "boolean", "array", "object", "null"] as const;

const formatNames =
  "date time date-time duration uri uri-reference uri-template email hostname ipv4 ipv6 regex uuid json-pointer " +
  "json-pointer-uri-fragment relative-json-pointer";

/** Supported formats, mapped to the validator's names. */
export const checkedFormats: ReadonlyMap<string, string> = new Map([
  ...formatNames.split(" ").map((name) => [name, name] as const),
  // The validator's "url" takes exponential time and is not part of JSON Schema.
  ["url", "uri"],
]);
