/**
 * Returns a function that returns a pattern, built when it is first needed. For Unicode properties such as `\p{L}`: V8
 * looks up their characters when it parses a literal, even in a function that never runs. On the import path of
 * `capstan`, that was a fifth of the time.
 */
export function createLazyPattern(source: string, flags: string): () => RegExp {
  let pattern: RegExp | undefined;
  return () => {
    pattern ??= new RegExp(source, flags);
    return pattern;
  };
}
