import type { Entry } from "../kernel/history.ts";
import type { Wire } from "./wire.ts";

/** Converts entries of the history before a wire serializes them, for a cloud that accepts less than the wire writes. */
export function withConvertedEntries(wire: Wire, convert: (entry: Entry) => Entry): Wire {
  // The same object each time, because the wire keeps the text of an entry.
  const converted = new WeakMap<Entry, Entry>();
  const toEntry = (entry: Entry): Entry => {
    const known = converted.get(entry);
    if (known) return known;
    const result = convert(entry);
    if (result !== entry) converted.set(entry, result);
    return result;
  };
  return {
    ...wire,
    toRequest: (request, settings) =>
      wire.toRequest({ ...request, history: request.history.map(toEntry) }, settings),
  };
}
