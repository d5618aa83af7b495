import { AgentError, describeThrown } from "../base/errors.ts";
import { isRecord } from "../base/json.ts";
import { assertNoNestedLibrary } from "./nested-library.ts";
import { isParameterRecord, type ParameterRecord, toJsonSchema } from "./parameter-record.ts";
import { assertSchemaSize, createValidator, type JsonSchema } from "./validator.ts";

export type { Infer, InferInput } from "./infer.ts";
export type { Parameter, ParameterRecord } from "./parameter-record.ts";
export type { JsonSchema } from "./validator.ts";

/** A library schema that validates (Standard Schema) and ideally provides its JSON Schema (Standard JSON Schema). */
export interface StandardSchema<Output = unknown> {
  readonly "~standard": {
    readonly vendor: string;
    readonly types?: { readonly output: Output } | undefined;
    validate(value: unknown): StandardResult<Output> | Promise<StandardResult<Output>>;
    /** If missing, the JSON Schema must be passed as `jsonSchema`. */
    readonly jsonSchema?: { input(options: { readonly target: "draft-2020-12" }): Record<string, unknown> };
  };
}

type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };
type StandardIssue = { readonly message: string; readonly path?: readonly unknown[] | undefined };

/** Accepted as `input` of `defineTool`: a Standard Schema, a parameter record, or JSON Schema such as TypeBox's. */
export type SchemaInput = StandardSchema | ParameterRecord | object;

/** A schema in the form the runtime uses. */
export interface Schema {
  /** The JSON Schema sent to the model. */
  readonly json: JsonSchema;
  /** Never throws for an invalid value: the issues are written for the model. */
  validate(value: unknown): Promise<Validation>;
}
export type Validation =
  | { readonly valid: true; readonly value: unknown }
  | { readonly valid: false; readonly issues: readonly string[] };

export type SchemaOptions = {
  /** The owner in error messages: `the tool "weather"`. */
  readonly owner?: string;
  /** JSON Schema for a Standard Schema that does not provide it (valibot), or to send a different one to the model. */
  readonly jsonSchema?: object | undefined;
};

/** Throws `invalid_definition` for an invalid schema, and for JSON Schema that cannot be checked safely. */
export function toSchema(input: SchemaInput, options: SchemaOptions = {}): Schema {
  const { owner = "a tool or agent", jsonSchema } = options;
  if (isStandardSchema(input)) return fromStandard(input, owner, jsonSchema);
  if (!isRecord(input)) {
    throw new AgentError(
      "invalid_definition",
      "An input schema must be JSON Schema, TypeBox, a parameter record, or a Standard Schema that provides its JSON Schema (zod 4, arktype).",
    );
  }
  if (jsonSchema !== undefined) {
    throw new AgentError(
      "invalid_definition",
      `Remove the jsonSchema of ${owner}: it applies to a Standard Schema only, and the input is already JSON Schema.`,
    );
  }
  assertNoNestedLibrary(input, owner);
  const json = isParameterRecord(input) ? toJsonSchema(input, owner) : input;
  const findIssues = createValidator(json, owner);
  return {
    json,
    async validate(value) {
      const found = findIssues(value);
      const issues = found instanceof Promise ? await found : found;
      return issues.length > 0 ? { valid: false, issues } : { valid: true, value };
    },
  };
}

function isStandardSchema(input: SchemaInput): input is StandardSchema {
  // arktype's schemas are functions, zod's are objects.
  return (typeof input === "object" || typeof input === "function") && input !== null && "~standard" in input;
}

function fromStandard(input: StandardSchema, owner: string, jsonSchema: object | undefined): Schema {
  const standard = input["~standard"];
  if (jsonSchema === undefined && typeof standard.jsonSchema?.input !== "function") {
    throw new AgentError(
      "invalid_definition",
      `This ${standard.vendor} schema does not provide its JSON Schema. Pass it as jsonSchema, or use a library that provides it (zod 4, arktype).`,
    );
  }
  const json = { ...(jsonSchema ?? getJsonSchema(input, owner)) };
  assertSchemaSize(json, owner);
  return {
    json,
    async validate(value) {
      const validated = standard.validate(value);
      const result = "then" in validated ? await validated : validated;
      if (result.issues) return { valid: false, issues: Array.from(result.issues, describeIssue) };
      return { valid: true, value: result.value };
    },
  };
}

/** A library throws for types that JSON Schema cannot express, such as dates. */
function getJsonSchema(input: StandardSchema, owner: string): Record<string, unknown> | undefined {
  try {
    return input["~standard"].jsonSchema?.input({ target: "draft-2020-12" });
  } catch (thrown) {
    const path = findUnsupportedPath(input);
    const where = path.length > 0 ? `"${path.join(".")}" in the schema` : "The schema";
    const { message } = describeThrown(thrown, "invalid_definition");
    throw new AgentError(
      "invalid_definition",
      `${where} of ${owner} cannot be expressed as JSON Schema (${message}). A model writes JSON: use a string for a date, such as z.iso.datetime(), and a string or number for a bigint.`,
      { cause: thrown },
    );
  }
}

/** Returns the path to the field without JSON Schema, if the library exposes its fields (zod's `shape`). */
function findUnsupportedPath(input: StandardSchema, ancestors: readonly unknown[] = []): readonly string[] {
  const shape: unknown = Reflect.get(input, "shape");
  const visited = [...ancestors, input]; // a schema may contain itself
  for (const [name, member] of Object.entries(isRecord(shape) ? shape : {}))
    if (isRecord(member) && isStandardSchema(member) && !visited.includes(member) && !hasJsonSchema(member))
      return [name, ...findUnsupportedPath(member, visited)];
  return [];
}

function hasJsonSchema(input: StandardSchema): boolean {
  try {
    return input["~standard"].jsonSchema?.input({ target: "draft-2020-12" }) !== undefined;
  } catch {
    return false;
  }
}

function describeIssue({ path = [], message }: StandardIssue): string {
  // Array.from, because arktype's paths are a class with a different map().
  const keys = Array.from(path, (step) => String(isRecord(step) ? step.key : step));
  if (keys.length === 0) return message;
  // arktype repeats the path in the message.
  const expression = keys.map((key) => (/^\d+$/.test(key) ? `[${key}]` : `.${key}`)).join("");
  const repeated = `${expression.replace(/^\./, "")} `;
  return `${keys.join(".")}: ${message.startsWith(repeated) ? message.slice(repeated.length) : message}`;
}
