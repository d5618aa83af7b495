import { isRecord } from "../json.ts";

/** Says what is wrong with a value that was read as JSON; nothing when it fits. */
export type Validator = (value: unknown, path: string) => string | undefined;

/** Shapes by the names of their fields. */
export type Fields = { readonly [field: string]: Validator };

/** A text. */
export const string: Validator = (value, path) =>
  typeof value === "string" ? undefined : `${path} must be a text`;

/** A number. */
export const number: Validator = (value, path) =>
  typeof value === "number" ? undefined : `${path} must be a number`;

/** True or false. */
export const boolean: Validator = (value, path) =>
  typeof value === "boolean" ? undefined : `${path} must be true or false`;

/** Whatever JSON can say. */
export const any: Validator = () => undefined;

/** One of these values. */
export function literals(...values: readonly (string | boolean)[]): Validator {
  return (value, path) =>
    values.some((allowed) => allowed === value) ? undefined : `${path} must be one of ${values.join(", ")}`;
}

/** A list whose items have one shape. */
export function array(validator: Validator): Validator {
  return (value, path) => {
    if (!Array.isArray(value)) return `${path} must be a list`;
    for (const [index, item] of value.entries()) {
      const problem = validator(item, `${path}[${index}]`);
      if (problem) return problem;
    }
    return undefined;
  };
}

/** An object with these fields, and any others. */
export function object(required: Fields, optional: Fields = {}): Validator {
  return (value, path) => {
    if (!isRecord(value)) return `${path} must be an object`;
    for (const [field, validator] of Object.entries(required)) {
      const fieldPath = `${path}.${field}`;
      const problem = Object.hasOwn(value, field)
        ? validator(value[field], fieldPath)
        : `${fieldPath} is missing`;
      if (problem) return problem;
    }
    for (const [field, validator] of Object.entries(optional)) {
      const problem = Object.hasOwn(value, field) ? validator(value[field], `${path}.${field}`) : undefined;
      if (problem) return problem;
    }
    return undefined;
  };
}

/** An object whose values, whatever their keys, have one shape. */
export function record(validator: Validator): Validator {
  return (value, path) => {
    if (!isRecord(value)) return `${path} must be an object`;
    for (const [key, entry] of Object.entries(value)) {
      const problem = validator(entry, `${path}[${JSON.stringify(key)}]`);
      if (problem) return problem;
    }
    return undefined;
  };
}

/** An object whose `type` says which shape it has. */
export function taggedUnion(validators: { readonly [type: string]: Validator }): Validator {
  return (value, path) => {
    const type = isRecord(value) ? value.type : undefined;
    const validator =
      typeof type === "string" && Object.hasOwn(validators, type) ? validators[type] : undefined;
    if (validator) return validator(value, path);
    return `${path}.type must be one of ${Object.keys(validators).join(", ")}, not ${formatType(type)}`;
  };
}

/** The first shape that fits; the problem told is that of the last. */
export function union(...validators: readonly Validator[]): Validator {
  return (value, path) => {
    let problem: string | undefined;
    for (const validator of validators) {
      problem = validator(value, path);
      if (!problem) return undefined;
    }
    return problem;
  };
}

function formatType(value: unknown): string {
  return JSON.stringify(value)?.slice(0, 80) ?? "nothing";
}
