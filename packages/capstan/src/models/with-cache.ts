const maxEntries = 64;

/** Remembers what a pure function returned for the texts it was last called with, such as the few URLs of a process. */
export function withCache<Value>(compute: (text: string) => Value): (text: string) => Value {
  const known = new Map<string, Value>();
  return (text) => {
    let value = known.get(text);
    if (value === undefined) {
      value = compute(text);
      if (known.size >= maxEntries) known.clear();
      known.set(text, value);
    }
    return value;
  };
}
