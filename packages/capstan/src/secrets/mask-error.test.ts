import { describe, expect, it } from "vitest";
import { AgentError } from "../base/errors.ts";
import { createMask, type SecretMask } from "./mask.ts";
import { maskError } from "./mask-error.ts";

const secret = "tok-en-12345";
const masking = createMask([secret]) as SecretMask;

describe("a masked error", () => {
  it("is the same error, without the secret in its message, its stack and its causes (A110, A112)", () => {
    const cause = new Error(`connect postgres://u:${secret}@db`);
    const error = new AgentError("store_failed", `No store: ${secret}`, { cause });
    expect(maskError(error, masking)).toBe(error);
    expect([error.message, error.code, cause.message]).toEqual([
      "No store: ***",
      "store_failed",
      "connect postgres://u:***@db",
    ]);
    expect(`${error.stack}${cause.stack}`).not.toContain(secret);
  });

  it("is a new error with the same code if the original is frozen (A110)", () => {
    const error = Object.freeze(new AgentError("lease_lost", `Lost: ${secret}`));
    expect(maskError(error, masking)).toMatchObject({ code: "lease_lost", message: "Lost: ***" });
  });

  it("may be anything", () => {
    expect([`x ${secret}`, 7, null].map((thrown) => maskError(thrown, masking))).toEqual(["x ***", 7, null]);
  });
});
