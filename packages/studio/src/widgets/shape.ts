// Validation of widget props, which come from untrusted tools. Small on purpose: a schema library would be loaded by every
// page for six widgets.

/** Returns a problem that names the path, or undefined if the value is a `T`. */
export type Shape<T> = ((value: unknown, path: string) => string | undefined) & { readonly as?: T };

/** Text of limited length. */
export function text(maxLength = 2000): Shape<string> {
  return (value, path) => {
    if (typeof value !== "string") return `${path} must be text`;
    return value.length > maxLength ? `${path} is longer than ${maxLength} characters` : undefined;
  };
}

/** A finite number within the limits. */
export function number(min = -1e15, max = 1e15): Shape<number> {
  return (value, path) =>
    typeof value === "number" && value >= min && value <= max
      ? undefined
      : `${path} must be a number from ${min} to ${max}`;
}

export const boolean: Shape<boolean> = (value, path) =>
  typeof value === "boolean" ? undefined : `${path} must be true or false`;

/** A color as `#rgb` or `#rrggbb`. Nothing else may reach a style. */
export const color: Shape<string> = (value, path) =>
  typeof value === "string" && /^#(?:[0-9a-f]{3}|[0-9a-f]{6})$/i.test(value)
    ? undefined
    : `${path} must be a color such as #0f766e`;

/** One of several strings. */
export function oneOf<const T extends string>(...words: readonly T[]): Shape<T> {
  return (value, path) =>
    words.some((word) => word === value) ? undefined : `${path} must be one of ${words.join(", ")}`;
}

/** A list of limited length. */
export function list<T>(item: Shape<T>, max: number): Shape<readonly T[]> {
  return (value, path) => {
    if (!Array.isArray(value)) return `${path} must be a list`;
    if (value.length > max) return `${path} has more than ${max} items`;
    for (const [index, member] of value.entries()) {
      const problem = item(member, `${path}[${index}]`);
      if (problem !== undefined) return problem;
    }
    return undefined;
  };
}

export type Optional<T> = Shape<T> & { readonly isOptional: true };

/** Allows undefined. */
export function optional<T>(shape: Shape<T>): Optional<T> {
  const check: Shape<T> = (value, path) => (value === undefined ? undefined : shape(value, path));
  return Object.assign(check, { isOptional: true as const });
}

type Fields<T> = {
  readonly [K in keyof T]-?: undefined extends T[K] ? Optional<Exclude<T[K], undefined>> : Shape<T[K]>;
};

/** An object with these fields; other fields are ignored. Every field of the type needs a shape. */
export function fields<T extends object>(shapes: Fields<T>): Shape<T> {
  const entries = Object.entries(shapes) as [string, Shape<unknown>][];
  return (value, path) => {
    if (typeof value !== "object" || value === null || Array.isArray(value))
      return `${path} must be an object`;
    for (const [name, shape] of entries) {
      const problem = shape(
        Object.hasOwn(value, name) ? Reflect.get(value, name) : undefined,
        `${path}.${name}`,
      );
      if (problem !== undefined) return problem;
    }
    return undefined;
  };
}

/** One of two shapes. */
export function either<A, B>(first: Shape<A>, second: Shape<B>): Shape<A | B> {
  return (value, path) => {
    if (first(value, path) === undefined) return undefined;
    return second(value, path);
  };
}
