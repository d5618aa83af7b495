import { describe, expect, it } from "vitest";
import { AgentError } from "../errors.ts";
import { type Masking, maskingOf } from "./mask.ts";
import { maskedError } from "./mask-error.ts";

const secret = "tok-en-12345";
const masking = maskingOf([secret]) as Masking;

describe("a masked error", () => {
  it("is the same error, without the secret in its message, its stack and its causes (A110, A112)", () => {
    const cause = new Error(`connect postgres://u:${secret}@db`);
    const error = new AgentError("store_failed", `No store: ${secret}`, { cause });
    expect(maskedError(error, masking)).toBe(error);
    expect([error.message, error.code, cause.message]).toEqual([
      "No store: ***",
      "store_failed",
      "connect postgres://u:***@db",
    ]);
    expect(`${error.stack}${cause.stack}`).not.toContain(secret);
  });

  it("is another one with the same code when it cannot be changed (A110)", () => {
    const error = Object.freeze(new AgentError("lease_lost", `Lost: ${secret}`));
    expect(maskedError(error, masking)).toMatchObject({ code: "lease_lost", message: "Lost: ***" });
  });

  it("may be anything", () => {
    expect([`x ${secret}`, 7, null].map((thrown) => maskedError(thrown, masking))).toEqual([
      "x ***",
      7,
      null,
    ]);
  });
});
