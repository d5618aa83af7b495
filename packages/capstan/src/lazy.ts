/** Returns a function that creates a value on its first call, and returns it on every call. */
export function createOnce<Value>(create: () => Value): () => Value {
  let created: { readonly value: Value } | undefined;
  return () => {
    created ??= { value: create() };
    return created.value;
  };
}

/**
 * Returns a function that returns a pattern, built when it is first needed. For Unicode properties such as `\p{L}`: V8
 * looks up their characters when it parses a literal, even in a function that never runs, so literals of the modules
 * that `capstan` loads would add to its import time.
 */
export function createLazyPattern(source: string, flags: string): () => RegExp {
  return createOnce(() => new RegExp(source, flags));
}
