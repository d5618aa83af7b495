import { isRecord } from "../json.ts";

/** Says what is wrong with a value that was read as JSON; nothing when it fits. */
export type Shape = (value: unknown, path: string) => string | undefined;

/** Shapes by the names of their fields. */
export type Fields = { readonly [field: string]: Shape };

/** A text. */
export const text: Shape = (value, path) =>
  typeof value === "string" ? undefined : `${path} must be a text`;

/** A number. */
export const number: Shape = (value, path) =>
  typeof value === "number" ? undefined : `${path} must be a number`;

/** True or false. */
export const flag: Shape = (value, path) =>
  typeof value === "boolean" ? undefined : `${path} must be true or false`;

/** Whatever JSON can say. */
export const anything: Shape = () => undefined;

/** One of these values. */
export function oneOf(...values: readonly (string | boolean)[]): Shape {
  return (value, path) =>
    values.some((known) => known === value) ? undefined : `${path} must be one of ${values.join(", ")}`;
}

/** A list whose items have one shape. */
export function list(of: Shape): Shape {
  return (value, path) => {
    if (!Array.isArray(value)) return `${path} must be a list`;
    for (const [index, item] of value.entries()) {
      const problem = of(item, `${path}[${index}]`);
      if (problem) return problem;
    }
    return undefined;
  };
}

/** An object with these fields, and any others. */
export function record(required: Fields, optional: Fields = {}): Shape {
  return (value, path) => {
    if (!isRecord(value)) return `${path} must be an object`;
    for (const [field, shape] of Object.entries(required)) {
      const where = `${path}.${field}`;
      const problem = Object.hasOwn(value, field) ? shape(value[field], where) : `${where} is missing`;
      if (problem) return problem;
    }
    for (const [field, shape] of Object.entries(optional)) {
      const problem = Object.hasOwn(value, field) ? shape(value[field], `${path}.${field}`) : undefined;
      if (problem) return problem;
    }
    return undefined;
  };
}

/** An object whose values, whatever their keys, have one shape. */
export function mapOf(of: Shape): Shape {
  return (value, path) => {
    if (!isRecord(value)) return `${path} must be an object`;
    for (const [key, member] of Object.entries(value)) {
      const problem = of(member, `${path}[${JSON.stringify(key)}]`);
      if (problem) return problem;
    }
    return undefined;
  };
}

/** An object whose `type` says which shape it has. */
export function byType(shapes: { readonly [type: string]: Shape }): Shape {
  return (value, path) => {
    const type = isRecord(value) ? value.type : undefined;
    const shape = typeof type === "string" && Object.hasOwn(shapes, type) ? shapes[type] : undefined;
    if (shape) return shape(value, path);
    return `${path}.type must be one of ${Object.keys(shapes).join(", ")}, not ${shown(type)}`;
  };
}

/** The first shape that fits; the problem told is that of the last. */
export function either(...shapes: readonly Shape[]): Shape {
  return (value, path) => {
    let problem: string | undefined;
    for (const shape of shapes) {
      problem = shape(value, path);
      if (!problem) return undefined;
    }
    return problem;
  };
}

function shown(value: unknown): string {
  return JSON.stringify(value)?.slice(0, 80) ?? "nothing";
}
