import { AgentError, describeThrown, type ErrorCode, errorCodes } from "../base/errors.ts";
import type { SecretMask } from "./mask.ts";

const maxCauses = 10;

/** Masks the message, stack and causes of an error in place. A frozen error is replaced by a new one. */
export function maskError(thrown: unknown, mask: SecretMask): unknown {
  if (typeof thrown === "string") return mask.text(thrown);
  let error = thrown;
  for (let count = 0; count < maxCauses && error instanceof Error; count++) {
    for (const field of ["message", "stack"] as const) {
      const text = error[field];
      const masked = typeof text === "string" ? mask.text(text) : text;
      if (masked !== text && !Reflect.set(error, field, masked)) return createMaskedError(thrown, mask);
    }
    error = error.cause;
  }
  return thrown;
}

function createMaskedError(thrown: unknown, mask: SecretMask): AgentError {
  const { code, message, retryable } = describeThrown(thrown, "store_failed");
  const knownCode = Object.hasOwn(errorCodes, code) ? (code as ErrorCode) : "store_failed";
  return new AgentError(knownCode, mask.cutText(message), { retryable });
}
