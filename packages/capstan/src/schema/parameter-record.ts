import { suggestName } from "../definition.ts";
import { AgentError } from "../errors.ts";
import { isRecord } from "../json.ts";
import type { JsonSchema } from "./validator.ts";

const typeNames = ["string", "number", "integer", "boolean", "array", "object", "null"] as const;

/** One parameter of a tool, with any other keywords of JSON Schema beside its type. It is optional unless `required`. */
export type Parameter = {
  readonly type: (typeof typeNames)[number];
  readonly description?: string;
  /** Of a parameter that is an object, a list is JSON Schema's: the names of the fields it must have. */
  readonly required?: boolean | readonly string[];
  readonly [keyword: string]: unknown;
};

/** The short form of an input schema: each parameter by its name. Names that are not listed are let through. */
export type ParameterRecord = { readonly [name: string]: Parameter };

/** Tells a record from JSON Schema, whose own `type` is a text or a list, and whose other keywords are rarely all typed. */
export function isParameterRecord(input: object): input is ParameterRecord {
  const members = Object.values(input);
  return members.length > 0 && members.every((member) => isRecord(member) && typeof member.type === "string");
}

export function parametersToJsonSchema(record: ParameterRecord, owner: string): JsonSchema {
  const properties: [string, JsonSchema][] = [];
  const required: string[] = [];
  for (const [name, parameter] of Object.entries(record)) {
    if (!typeNames.includes(parameter.type)) {
      const hint = suggestName(parameter.type, typeNames) || ` The types are ${typeNames.join(", ")}.`;
      const message = `The parameter "${name}" of ${owner} has the unknown type "${parameter.type}".${hint}`;
      throw new AgentError("invalid_definition", message);
    }
    const { required: isRequired, ...schema } = parameter;
    properties.push([name, Array.isArray(isRequired) ? parameter : schema]);
    if (isRequired === true) required.push(name);
  }
  // fromEntries defines own keys, whatever a parameter is called.
  return {
    type: "object",
    properties: Object.fromEntries(properties),
    ...(required.length > 0 && { required }),
  };
}
