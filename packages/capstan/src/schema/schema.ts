import { AgentError, describeThrown } from "../errors.ts";
import { isRecord } from "../json.ts";
import { refuseLibraryWithin } from "./nested-library.ts";
import { isParameterRecord, type ParameterRecord, parametersToJsonSchema } from "./parameter-record.ts";
import { checkSize, type JsonSchema, jsonValidator } from "./validator.ts";

export type { Infer } from "./infer.ts";
export type { Parameter, ParameterRecord } from "./parameter-record.ts";
export type { JsonSchema } from "./validator.ts";

/** A library's schema that validates (Standard Schema) and, best, gives its JSON Schema (Standard JSON Schema). */
export interface StandardSchema<Output = unknown> {
  readonly "~standard": {
    readonly vendor: string;
    readonly types?: { readonly output: Output } | undefined;
    validate(value: unknown): StandardResult<Output> | Promise<StandardResult<Output>>;
    /** Without it, the JSON Schema has to be given beside the schema. */
    readonly jsonSchema?: { input(options: { readonly target: "draft-2020-12" }): Record<string, unknown> };
  };
}

type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };
type StandardIssue = { readonly message: string; readonly path?: readonly unknown[] | undefined };

/** What `defineTool` accepts as `input`: a Standard Schema, a parameter record, or JSON Schema in any type, such as TypeBox's. */
export type SchemaInput = StandardSchema | ParameterRecord | object;

/** A schema as the runtime uses it. */
export interface Schema {
  /** What the model is shown. */
  readonly json: JsonSchema;
  /** Never throws for a bad value: the issues say what is wrong, for the model to read. */
  validate(value: unknown): Promise<Validation>;
}
export type Validation =
  | { readonly valid: true; readonly value: unknown }
  | { readonly valid: false; readonly issues: readonly string[] };

export type SchemaOptions = {
  /** Whose schema it is, as error messages name it: `the tool "weather"`. */
  readonly owner?: string;
  /** The JSON Schema of a Standard Schema that does not give it (valibot), or another one to show the model. */
  readonly jsonSchema?: object | undefined;
};

/** Throws `invalid_definition` for what is no schema, and for JSON Schema that cannot be checked safely. */
export function toSchema(input: SchemaInput, options: SchemaOptions = {}): Schema {
  const { owner = "a tool or agent", jsonSchema } = options;
  if (isStandard(input)) return fromStandard(input, owner, jsonSchema);
  if (!isRecord(input)) {
    throw new AgentError(
      "invalid_definition",
      "An input schema must be JSON Schema, TypeBox, a parameter record, or a Standard Schema that gives its JSON Schema (zod 4, arktype).",
    );
  }
  if (jsonSchema !== undefined) {
    throw new AgentError(
      "invalid_definition",
      `The jsonSchema of ${owner} goes with a Standard Schema only: its input is JSON Schema already.`,
    );
  }
  refuseLibraryWithin(input, owner);
  const json = isParameterRecord(input) ? parametersToJsonSchema(input, owner) : input;
  const issuesOf = jsonValidator(json, owner);
  return {
    json,
    async validate(value) {
      const issues = await issuesOf(value);
      return issues.length > 0 ? { valid: false, issues } : { valid: true, value };
    },
  };
}

function isStandard(input: SchemaInput): input is StandardSchema {
  // arktype's schemas are functions, zod's are objects.
  return (typeof input === "object" || typeof input === "function") && input !== null && "~standard" in input;
}

function fromStandard(input: StandardSchema, owner: string, jsonSchema: object | undefined): Schema {
  const standard = input["~standard"];
  if (jsonSchema === undefined && typeof standard.jsonSchema?.input !== "function") {
    throw new AgentError(
      "invalid_definition",
      `This ${standard.vendor} schema does not give its JSON Schema. Put it beside the schema as jsonSchema, or use a library that gives it (zod 4, arktype).`,
    );
  }
  const json = { ...(jsonSchema ?? jsonSchemaOf(input, owner)) };
  checkSize(json, owner);
  return {
    json,
    async validate(value) {
      const result = await standard.validate(value);
      if (result.issues) return { valid: false, issues: Array.from(result.issues, describeIssue) };
      return { valid: true, value: result.value };
    },
  };
}

/** A library throws for what JSON Schema cannot say, such as a date. */
function jsonSchemaOf(input: StandardSchema, owner: string): Record<string, unknown> | undefined {
  try {
    return input["~standard"].jsonSchema?.input({ target: "draft-2020-12" });
  } catch (thrown) {
    const path = unshowablePath(input);
    const where = path.length > 0 ? `"${path.join(".")}" in the schema` : "The schema";
    const { message } = describeThrown(thrown, "invalid_definition");
    throw new AgentError(
      "invalid_definition",
      `${where} of ${owner} cannot be shown to a model (${message}): a model writes JSON, so use a text for a date, such as z.iso.datetime(), and a text or a number for a bigint.`,
      { cause: thrown },
    );
  }
}

/** The way to the field that has no JSON Schema, as far as the library shows its fields (zod's `shape`). */
function unshowablePath(input: StandardSchema, above: readonly unknown[] = []): readonly string[] {
  const shape: unknown = Reflect.get(input, "shape");
  const around = [...above, input]; // a schema may hold itself
  for (const [name, member] of Object.entries(isRecord(shape) ? shape : {}))
    if (isRecord(member) && isStandard(member) && !around.includes(member) && !isShowable(member))
      return [name, ...unshowablePath(member, around)];
  return [];
}

function isShowable(input: StandardSchema): boolean {
  try {
    return input["~standard"].jsonSchema?.input({ target: "draft-2020-12" }) !== undefined;
  } catch {
    return false;
  }
}

function describeIssue({ path = [], message }: StandardIssue): string {
  // Array.from: arktype's paths are of a class whose map() is not that of arrays.
  const keys = Array.from(path, (step) => String(isRecord(step) ? step.key : step));
  if (keys.length === 0) return message;
  // arktype says the path again in the message, as an expression.
  const expression = keys.map((key) => (/^\d+$/.test(key) ? `[${key}]` : `.${key}`)).join("");
  const repeated = `${expression.replace(/^\./, "")} `;
  return `${keys.join(".")}: ${message.startsWith(repeated) ? message.slice(repeated.length) : message}`;
}
