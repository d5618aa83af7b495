import crypto from "node:crypto";
import { afterEach, describe, expect, it, vi } from "vitest";
import { githubSecret, signStandard, slackSecret, standardSecret } from "../testing/sign-webhook.ts";
import { assertSigned, readSignature, signMessage } from "./signature.ts";

vi.mock(import("node:crypto"), async (importOriginal) => {
  const original = await importOriginal();
  const timingSafeEqual = vi.fn(original.timingSafeEqual);
  return { ...original, timingSafeEqual, default: { ...original, timingSafeEqual } };
});
afterEach(() => vi.mocked(crypto.timingSafeEqual).mockClear());

const standardKey = Buffer.from(standardSecret.slice("whsec_".length), "base64");
const otherKey = Buffer.from("another secret of 24 byte");

/** From the documentation of Standard Webhooks, GitHub and Slack. */
const published = {
  generic: {
    key: standardKey,
    at: 1614265330_000,
    body: '{"test": 2432232314}',
    headers: {
      "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
      "webhook-timestamp": "1614265330",
      "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    },
  },
  github: {
    key: Buffer.from(githubSecret),
    at: 0,
    body: "Hello, World!",
    headers: {
      "x-hub-signature-256": "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17",
    },
  },
  slack: {
    key: Buffer.from(slackSecret),
    at: 1531420618_000,
    body: "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c",
    headers: {
      "x-slack-request-timestamp": "1531420618",
      "x-slack-signature": "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503",
    },
  },
} as const;

type Provider = keyof typeof published;

function verify(provider: Provider, change: { headers?: object; body?: string; at?: number } = {}): string {
  const { key, at, body, headers } = published[provider];
  try {
    const all = new Headers({ ...headers, ...change.headers } as Record<string, string>);
    const claim = readSignature(provider, all, change.at ?? at);
    assertSigned(claim, [otherKey, key], Buffer.from(change.body ?? body));
    return "signed";
  } catch (error) {
    return (error as { code: string }).code;
  }
}

describe.each(Object.keys(published) as Provider[])("a signature of %s", (provider) => {
  const [header = ""] = Object.keys(published[provider].headers).filter((name) => name.includes("signature"));

  it("is verified as its documentation says, also with the second of two secrets", () => {
    expect(verify(provider)).toBe("signed");
  });

  it("covers every byte of the body (A142)", () => {
    const { body } = published[provider];
    for (const changed of [`${body} `, body.slice(0, -1), body.toUpperCase(), ""])
      expect(verify(provider, { body: changed })).toBe("unauthorized");
  });

  it("that is missing, truncated, empty or of another form is refused (A142)", () => {
    const value = (published[provider].headers as Record<string, string>)[header] ?? "";
    for (const forged of [value.slice(0, -4), `${value}00`, "", "v1,", "v0=", "sha256=", `v1a,${value}`])
      expect(verify(provider, { headers: { [header]: forged } })).toBe("unauthorized");
  });

  it("is compared in constant time with every secret, wherever it differs (A142)", () => {
    const { body } = published[provider];
    const counts = [`${body}x`, `x${body}`].map((changed) => {
      vi.mocked(crypto.timingSafeEqual).mockClear();
      verify(provider, { body: changed });
      return vi
        .mocked(crypto.timingSafeEqual)
        .mock.calls.map(([one, two]) => [one.byteLength, two.byteLength]);
    });
    const everySecret = [
      [32, 32],
      [32, 32],
    ];
    expect(counts).toEqual([everySecret, everySecret]);
    vi.mocked(crypto.timingSafeEqual).mockClear();
    expect(verify(provider)).toBe("signed");
    expect(vi.mocked(crypto.timingSafeEqual)).toHaveBeenCalledTimes(2);
  });
});

describe.each(["generic", "slack"] as const)("a request of %s", (provider) => {
  it("that is older or newer than five minutes is refused, and its body is not needed for that (A142)", () => {
    const { at } = published[provider];
    for (const offset of [-300_000, 0, 300_000]) expect(verify(provider, { at: at + offset })).toBe("signed");
    for (const offset of [-301_000, 301_000, 86_400_000])
      expect(verify(provider, { at: at + offset })).toBe("unauthorized");
  });

  it("with another time than the signed one is refused (A142)", () => {
    const { headers, at } = published[provider];
    const [name = ""] = Object.keys(headers).filter((header) => header.endsWith("timestamp"));
    const change = { headers: { [name]: String(at / 1000 + 1) } };
    expect(verify(provider, change)).toBe("unauthorized");
    for (const forged of ["", "now", "1e9", "-1", "0x10", "9".repeat(40)])
      expect(verify(provider, { headers: { [name]: forged } })).toBe("unauthorized");
  });
});

it("a generic request with another id than the signed one is refused (A142)", () => {
  expect(verify("generic", { headers: { "webhook-id": "msg_2" } })).toBe("unauthorized");
});

it("while a secret is replaced, a message has a signature with each, and either is enough", () => {
  const now = Date.now();
  const message = { id: "msg_1", body: "{}" };
  const headers = signMessage(message, [otherKey, standardKey], now);
  const theirs = signStandard("{}", { at: now });
  expect(headers["webhook-signature"]?.split(" ")).toContain(theirs["webhook-signature"]);
  for (const key of [otherKey, standardKey]) {
    const claim = readSignature("generic", new Headers(headers), now);
    expect(() => assertSigned(claim, [key], Buffer.from("{}"))).not.toThrow();
  }
});
