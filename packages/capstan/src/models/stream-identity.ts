import { AgentError } from "../base/errors.ts";

/** The error for a stream that contradicts itself. Nothing of it is used, and the request is sent again. */
export function createInconsistencyError(what: string): AgentError {
  return new AgentError("stream_inconsistent", `The model's stream contradicts itself: ${what}.`);
}

/** Checks that all events of a stream belong to one response. */
export type StreamIdentity = {
  /** Throws `stream_inconsistent` if the event belongs to a second response. `hasOutput`: it adds to the answer or ends it. */
  check(id: unknown, hasOutput: boolean): void;
};

/**
 * Providers repeat the id of the response in every event. A new id after output means that a gateway started over with
 * its upstream inside one stream: what came before belongs to an answer that was never finished.
 *
 * Compatible servers are less reliable: the id may be empty, change with every event, or differ in the last event,
 * which only has the usage. Unless `isStrict`, a new id counts only if the old one had been repeated, or if the new one
 * is repeated right after the first change.
 */
export function createStreamIdentity({ isStrict }: { readonly isStrict: boolean }): StreamIdentity {
  let current: string | undefined;
  let repeats = 0;
  let changes = 0;
  let hasAnyOutput = false;

  function change(id: string, hasOutput: boolean): void {
    // Output may come before the first id.
    if (hasAnyOutput && current !== undefined) {
      if (!isStrict && !hasOutput) return;
      if (isStrict || (changes === 0 && repeats > 0)) throw createRestartError();
      changes += 1;
    }
    current = id;
    repeats = 0;
  }

  return {
    check(id, hasOutput) {
      if (typeof id === "string" && id !== "") {
        if (id !== current) change(id, hasOutput);
        else if (++repeats === 1 && changes === 1 && hasOutput) throw createRestartError();
      }
      hasAnyOutput ||= hasOutput;
    },
  };
}

const createRestartError = (): AgentError =>
  createInconsistencyError("a second response started before the first one had ended");
