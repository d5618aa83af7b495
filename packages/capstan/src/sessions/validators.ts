import { isRecord } from "../json.ts";

/** Returns the problem with a parsed JSON value, or undefined if it is valid. */
export type Validator = (value: unknown, path: string) => string | undefined;

/** Validators by field name. */
export type Fields = { readonly [field: string]: Validator };

export const string: Validator = (value, path) =>
  typeof value === "string" ? undefined : `${path} must be a string`;

export const number: Validator = (value, path) =>
  typeof value === "number" ? undefined : `${path} must be a number`;

export const boolean: Validator = (value, path) =>
  typeof value === "boolean" ? undefined : `${path} must be true or false`;

export const any: Validator = () => undefined;

export function literals(...values: readonly (string | boolean)[]): Validator {
  return (value, path) =>
    values.some((allowed) => allowed === value) ? undefined : `${path} must be one of ${values.join(", ")}`;
}

/** An array whose items all pass `validator`. */
export function array(validator: Validator): Validator {
  return (value, path) => {
    if (!Array.isArray(value)) return `${path} must be an array`;
    for (const [index, item] of value.entries()) {
      const problem = validator(item, `${path}[${index}]`);
      if (problem) return problem;
    }
    return undefined;
  };
}

/** An object with these fields. Other fields are allowed. */
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

/** An object with arbitrary keys whose values all pass `validator`. */
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

/** An object checked by the validator for its `type`. */
export function taggedUnion(validators: { readonly [type: string]: Validator }): Validator {
  return (value, path) => {
    const type = isRecord(value) ? value.type : undefined;
    const validator =
      typeof type === "string" && Object.hasOwn(validators, type) ? validators[type] : undefined;
    if (validator) return validator(value, path);
    return `${path}.type must be one of ${Object.keys(validators).join(", ")}, not ${formatType(type)}`;
  };
}

/** Accepts a value that passes any validator. Otherwise reports the problem found by the last one. */
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
