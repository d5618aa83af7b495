import { isSameJson } from "../../base/json.ts";
import { createInconsistencyError } from "../stream-identity.ts";

/** Follows the numbers of the events. */
export type Sequence = {
  /** Throws `stream_inconsistent` if the numbers start over. */
  check(number: unknown): void;
  /** Whether numbers were skipped. The complete response at the end tells whether something is missing. */
  hasGap(): boolean;
};

/** Some servers do not count: only numbers that have counted up so far are believed. */
export function createSequence(): Sequence {
  let last: number | undefined;
  let steps = 0;
  let isCounting = true;
  let isGap = false;
  return {
    check(number) {
      if (typeof number !== "number" || !isCounting) return;
      if (last !== undefined && number <= last) {
        if (steps > 1) throw createInconsistencyError("its events are numbered from the beginning again");
        isCounting = false;
      } else if (last !== undefined) {
        steps += 1;
        isGap ||= number > last + 1;
      }
      last = number;
    },
    hasGap: () => isCounting && isGap,
  };
}

/** Returns what the complete text adds to the streamed one. A text that does not continue it is another answer's. */
export function findRest(streamed: string, whole: string, what: "text" | "arguments"): string {
  if (whole.startsWith(streamed)) return whole.slice(streamed.length);
  // Some servers send no complete text, trim it, or write the arguments with other white space.
  if (whole === "" || whole.trim() === streamed.trim() || isSameJson(streamed, whole)) return "";
  throw createInconsistencyError(`the complete ${what} differs from what was streamed`);
}
