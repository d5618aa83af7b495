/** Returns a function that creates a value once. */
/* @__NO_SIDE_EFFECTS__ */
export function createOnce<Value extends NonNullable<unknown>>(create: () => Value): () => Value {
  let value: Value | undefined;
  return () => {
    value ??= create();
    return value;
  };
}

// For Unicode properties such as `\p{L}` in what `capstan` loads: V8 looks up their characters when it parses a literal,
// even in code that never runs.
/* @__NO_SIDE_EFFECTS__ */
export function createLazyPattern(getSource: () => string, flags: string): () => RegExp {
  return createOnce(() => new RegExp(getSource(), flags));
}
