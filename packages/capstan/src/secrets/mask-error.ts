import { AgentError, describeThrown, type ErrorCode, errorCodes } from "../errors.ts";
import type { Masking } from "./mask.ts";

const mostCauses = 10;

/** The same error, with the secrets in its message, its stack and its causes masked. One that is frozen becomes another. */
export function maskedError(thrown: unknown, masking: Masking): unknown {
  if (typeof thrown === "string") return masking.text(thrown);
  let error = thrown;
  for (let count = 0; count < mostCauses && error instanceof Error; count++) {
    for (const field of ["message", "stack"] as const) {
      const said = error[field];
      const shown = typeof said === "string" ? masking.text(said) : said;
      if (shown !== said && !Reflect.set(error, field, shown)) return another(thrown, masking);
    }
    error = error.cause;
  }
  return thrown;
}

function another(thrown: unknown, masking: Masking): AgentError {
  const { code, message, retryable } = describeThrown(thrown, "store_failed");
  const known = Object.hasOwn(errorCodes, code) ? (code as ErrorCode) : "store_failed";
  return new AgentError(known, masking.cutText(message), { retryable });
}
