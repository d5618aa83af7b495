import { suggestName } from "../base/definition.ts";
import { AgentError } from "../base/errors.ts";
import { isRecord } from "../base/json.ts";
import type { JsonSchema } from "./validator.ts";

const typeNames = ["string", "number", "integer", "boolean", "array", "object", "null"] as const;

/** One parameter of a tool: a type plus any other JSON Schema keywords. Optional unless `required`. */
export type Parameter = {
  readonly type: (typeof typeNames)[number];
  readonly description?: string;
  /** For an object parameter, a list has its JSON Schema meaning: the required fields. */
  readonly required?: boolean | readonly string[];
  readonly [keyword: string]: unknown;
};

/** Short form of an input schema: parameters by name. Other names are allowed. */
export type ParameterRecord = { readonly [name: string]: Parameter };

/** Distinguishes a record from JSON Schema: all members of a record are objects with a `type`. */
export function isParameterRecord(input: object): input is ParameterRecord {
  const members = Object.values(input);
  return members.length > 0 && members.every((member) => isRecord(member) && typeof member.type === "string");
}

export function toJsonSchema(record: ParameterRecord, owner: string): JsonSchema {
  const properties: [string, JsonSchema][] = [];
  const required: string[] = [];
  for (const [name, parameter] of Object.entries(record)) {
    if (!typeNames.includes(parameter.type)) {
      const hint = suggestName(parameter.type, typeNames) || ` Known types: ${typeNames.join(", ")}.`;
      const message = `The parameter "${name}" of ${owner} has the unknown type "${parameter.type}".${hint}`;
      throw new AgentError("invalid_definition", message);
    }
    const { required: isRequired, ...schema } = parameter;
    properties.push([name, Array.isArray(isRequired) ? parameter : schema]);
    if (isRequired === true) required.push(name);
  }
  // fromEntries defines own keys even for a name such as "__proto__".
  return {
    type: "object",
    properties: Object.fromEntries(properties),
    ...(required.length > 0 && { required }),
  };
}
