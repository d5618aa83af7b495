import { AgentError } from "./errors.ts";
import { isRecord } from "./json.ts";

export type JsonSchema = { readonly [keyword: string]: unknown };

/** A library's schema that validates (Standard Schema) and gives its JSON Schema (Standard JSON Schema): zod 4, arktype. */
export interface StandardSchema<Output = unknown> {
  readonly "~standard": {
    readonly vendor: string;
    readonly types?: { readonly output: Output } | undefined;
    validate(value: unknown): StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly jsonSchema: { input(options: { readonly target: "draft-2020-12" }): Record<string, unknown> };
  };
}

type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };
type StandardIssue = { readonly message: string; readonly path?: readonly unknown[] | undefined };

/** What `defineTool` accepts as `input`: a Standard Schema, or JSON Schema in any type, such as TypeBox's. */
export type SchemaInput = StandardSchema | object;

/** A schema as the runtime uses it. */
export interface Schema {
  readonly json: JsonSchema;
  /** Never throws for a bad value: the issues say what is wrong, for the model to read. */
  validate(value: unknown): Promise<Validation>;
}
export type Validation =
  | { readonly valid: true; readonly value: unknown }
  | { readonly valid: false; readonly issues: readonly string[] };

export function toSchema(input: SchemaInput): Schema {
  if (isStandard(input)) return fromStandard(input);
  if (isRecord(input)) return fromJsonSchema(input);
  throw new AgentError(
    "invalid_definition",
    "An input schema must be JSON Schema, TypeBox, or a Standard Schema that gives its JSON Schema (zod 4, arktype).",
  );
}

function isStandard(input: SchemaInput): input is StandardSchema {
  // arktype's schemas are functions, zod's are objects.
  return (typeof input === "object" || typeof input === "function") && input !== null && "~standard" in input;
}

function fromStandard(input: StandardSchema): Schema {
  const standard = input["~standard"];
  if (typeof standard.jsonSchema?.input !== "function") {
    throw new AgentError(
      "invalid_definition",
      `This ${standard.vendor} schema does not give its JSON Schema. Use a library that does (zod 4, arktype) or plain JSON Schema.`,
    );
  }
  const json = standard.jsonSchema.input({ target: "draft-2020-12" });
  return {
    json,
    async validate(value) {
      const result = await standard.validate(value);
      if (result.issues) return { valid: false, issues: result.issues.map(describeIssue) };
      return { valid: true, value: result.value };
    },
  };
}

function describeIssue({ path, message }: StandardIssue): string {
  const keys = (path ?? []).map((step) => String(isRecord(step) ? step.key : step));
  return keys.length > 0 ? `${keys.join(".")}: ${message}` : message;
}

type ValidatorError = { readonly keyword: string; readonly instanceLocation: string; readonly error: string };
type JsonValidator = { validate(value: unknown): { valid: boolean; errors: ValidatorError[] } };

function fromJsonSchema(json: JsonSchema): Schema {
  let validator: JsonValidator | undefined;
  return {
    json,
    async validate(value) {
      // Loaded on first use: an agent whose tools use zod never pays for it.
      validator ??= new (await import("@cfworker/json-schema")).Validator(
        json,
        "2020-12",
        false,
      ) as JsonValidator;
      const { valid, errors } = validator.validate(value);
      return valid ? { valid, value } : { valid, issues: errors.filter(isCause).map(describeError) };
    },
  };
}

/** The validator also reports every enclosing keyword; only the innermost says what to do. */
const enclosing = [
  "properties",
  "additionalProperties",
  "patternProperties",
  "items",
  "prefixItems",
  "$ref",
  "contains",
];

function isCause({ keyword }: ValidatorError): boolean {
  return !enclosing.includes(keyword);
}

function describeError({ instanceLocation, keyword, error }: ValidatorError): string {
  const keys = instanceLocation
    .split("/")
    .slice(1)
    .map((key) => decodeURIComponent(key).replaceAll("~1", "/").replaceAll("~0", "~"));
  const text = keyword === "false" ? "is not allowed" : error.replace(/\.$/, "");
  return keys.length > 0 ? `${keys.join(".")}: ${text}` : text;
}

/** The type of a valid value: what the library says, or what the JSON Schema literal spells out. */
export type Infer<Input> = Input extends StandardSchema<infer Output> ? Output : FromJsonSchema<Input>;

type FromJsonSchema<S> = S extends { readonly const: infer Value }
  ? Value
  : S extends { readonly enum: readonly (infer Value)[] }
    ? Value
    : S extends { readonly anyOf: readonly (infer Option)[] }
      ? FromJsonSchema<Option>
      : S extends { readonly type: infer Type }
        ? OfType<S, Type>
        : unknown;

type OfType<S, Type> = Type extends readonly (infer One)[]
  ? OfType<S, One>
  : Type extends "string"
    ? string
    : Type extends "number" | "integer"
      ? number
      : Type extends "boolean"
        ? boolean
        : Type extends "null"
          ? null
          : Type extends "array"
            ? S extends { readonly items: infer Item }
              ? FromJsonSchema<Item>[]
              : unknown[]
            : Type extends "object"
              ? ObjectOf<S>
              : unknown;

type ObjectOf<S> = S extends { readonly properties: infer Properties }
  ? S extends { readonly required: readonly (infer Required)[] }
    ? { [Key in keyof Properties & Required]: FromJsonSchema<Properties[Key]> } & {
        [Key in Exclude<keyof Properties, Required>]?: FromJsonSchema<Properties[Key]>;
      }
    : { [Key in keyof Properties]?: FromJsonSchema<Properties[Key]> }
  : { [key: string]: unknown };
