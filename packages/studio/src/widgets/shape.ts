// Props of widgets come from tools, and so from anywhere: they are looked at before anything is drawn from them. Small
// on purpose: a whole schema language would be loaded by everyone for six kinds.

/** Says what is wrong with a value, in words that name the place; nothing when it fits. The type is what it lets through. */
export type Shape<T> = ((value: unknown, place: string) => string | undefined) & { readonly as?: T };

/** Text of a length that can be shown. */
export function text(longest = 2000): Shape<string> {
  return (value, place) => {
    if (typeof value !== "string") return `${place} must be text`;
    return value.length > longest ? `${place} is longer than ${longest} characters` : undefined;
  };
}

/** A number that can be drawn: not infinite, and not beyond what is given. */
export function number(least = -1e15, most = 1e15): Shape<number> {
  return (value, place) =>
    typeof value === "number" && value >= least && value <= most
      ? undefined
      : `${place} must be a number from ${least} to ${most}`;
}

export const boolean: Shape<boolean> = (value, place) =>
  typeof value === "boolean" ? undefined : `${place} must be true or false`;

/** A colour as `#rgb` or `#rrggbb`: nothing else can be in a style, so nothing else is let through. */
export const colour: Shape<string> = (value, place) =>
  typeof value === "string" && /^#(?:[0-9a-f]{3}|[0-9a-f]{6})$/i.test(value)
    ? undefined
    : `${place} must be a colour such as #0f766e`;

/** One of some words. */
export function oneOf<const T extends string>(...words: readonly T[]): Shape<T> {
  return (value, place) =>
    words.some((word) => word === value) ? undefined : `${place} must be one of ${words.join(", ")}`;
}

/** A list whose items all fit, of at most so many. */
export function list<T>(item: Shape<T>, most: number): Shape<readonly T[]> {
  return (value, place) => {
    if (!Array.isArray(value)) return `${place} must be a list`;
    if (value.length > most) return `${place} has more than ${most} items`;
    for (const [index, member] of value.entries()) {
      const problem = item(member, `${place}[${index}]`);
      if (problem !== undefined) return problem;
    }
    return undefined;
  };
}

/** What may be missing. */
export type Optional<T> = Shape<T> & { readonly isOptional: true };

/** May be missing. */
export function optional<T>(shape: Shape<T>): Optional<T> {
  const check: Shape<T> = (value, place) => (value === undefined ? undefined : shape(value, place));
  return Object.assign(check, { isOptional: true as const });
}

type Fields<T> = {
  readonly [K in keyof T]-?: undefined extends T[K] ? Optional<Exclude<T[K], undefined>> : Shape<T[K]>;
};

/** An object with these fields; others are not looked at. Every field of the type must have its shape here. */
export function fields<T extends object>(shapes: Fields<T>): Shape<T> {
  const entries = Object.entries(shapes) as [string, Shape<unknown>][];
  return (value, place) => {
    if (typeof value !== "object" || value === null || Array.isArray(value))
      return `${place} must be an object`;
    for (const [name, shape] of entries) {
      const problem = shape(
        Object.hasOwn(value, name) ? Reflect.get(value, name) : undefined,
        `${place}.${name}`,
      );
      if (problem !== undefined) return problem;
    }
    return undefined;
  };
}

/** One of two shapes. */
export function either<A, B>(first: Shape<A>, second: Shape<B>): Shape<A | B> {
  return (value, place) => {
    if (first(value, place) === undefined) return undefined;
    return second(value, place);
  };
}
