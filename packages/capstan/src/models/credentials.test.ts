import { describe, expect, it } from "vitest";
import { fakeClock } from "../testing/fake-clock.ts";
import { createCredential } from "./credentials.ts";

const hourMs = 3_600_000;

function createTokens(lifetimeMs?: number) {
  const clock = fakeClock();
  let count = 0;
  const credential = createCredential({
    source: "the vault",
    clock,
    load: async () => ({
      value: `token-${++count}`,
      ...(lifetimeMs && { expiresAt: clock.now() + lifetimeMs }),
    }),
  });
  return { clock, credential };
}

describe("a credential", () => {
  it("is cached until shortly before it expires", async () => {
    const { clock, credential } = createTokens(hourMs);
    expect(await credential.get()).toBe("token-1");
    await clock.advance(hourMs - 120_001);
    expect(await credential.get()).toBe("token-1");
    await clock.advance(1);
    expect(await credential.get()).toBe("token-2");
  });

  it("without an expiry is loaded for every request", async () => {
    const { credential } = createTokens();
    expect([await credential.get(), await credential.get()]).toEqual(["token-1", "token-2"]);
  });

  it("is loaded once for requests that start together", async () => {
    const { credential } = createTokens();
    const tokens = await Promise.all([credential.get(), credential.get(), credential.get()]);
    expect(tokens).toEqual(["token-1", "token-1", "token-1"]);
  });

  it("is renewed once for all requests whose token was refused", async () => {
    const { credential } = createTokens(hourMs);
    await credential.get();
    const renew = () => credential.renew((token) => token === "token-1");
    expect(await Promise.all([renew(), renew(), renew()])).toEqual([true, true, true]);
    // A late refusal of the old token does not discard the new one.
    expect(await renew()).toBe(true);
    expect(await credential.get()).toBe("token-2");
  });

  it("is not renewed by a source that repeats the refused one", async () => {
    const load = async () => ({ value: "same", expiresAt: Number.POSITIVE_INFINITY });
    const credential = createCredential({ source: "the vault", load });
    await credential.get();
    expect(await credential.renew((token) => token === "same")).toBe(false);
  });

  it("that cannot be loaded names its source and quotes nothing, and is tried again", async () => {
    let isBroken = true;
    const credential = createCredential({
      source: "the vault",
      async load() {
        if (isBroken) throw new TypeError("refused: password hunter2-hunter2");
        return { value: "token" };
      },
    });
    const failure = await credential.get().catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: "model_auth", retryable: false });
    expect((failure as Error).message).toBe("Cannot get credentials from the vault (TypeError).");
    isBroken = false;
    expect(await credential.get()).toBe("token");
  });
});
