import { BlockList, isIP } from "node:net";
import { array, assert, constantFrom, ipV4, ipV6, nat, oneof, property, string, webUrl } from "fast-check";
import { describe, expect, it } from "vitest";
import { checkUrl, toUrlRequest } from "./check-url.ts";
import { toGuard } from "./guard.ts";

const guard = toGuard({});
const inside = new BlockList();
for (const [base, length] of [
  ["10.0.0.0", 8],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.168.0.0", 16],
  ["0.0.0.0", 8],
] as const)
  inside.addSubnet(base, length, "ipv4");

const piece = oneof(
  constantFrom(
    "https:",
    "http:",
    "//",
    "/",
    "\\",
    "@",
    "#",
    "?",
    ":",
    ".",
    "[",
    "]",
    "%2f",
    "%00",
    "%31",
    "\t",
    "\u3002",
  ),
  constantFrom(
    "localhost",
    "127.0.0.1",
    "0x7f",
    "2130706433",
    "::1",
    "::ffff:",
    "example.com",
    "metadata",
    "internal",
    "①",
  ),
  ipV4(),
  ipV6(),
  nat(70_000).map(String),
  string({ maxLength: 4 }),
);
const anyUrl = oneof(
  webUrl({ withQueryParameters: true }),
  array(piece, { maxLength: 8 }).map((pieces) => pieces.join("")),
  array(piece, { maxLength: 5 }).map((pieces) => `https://${pieces.join("")}`),
  ipV4().map((address) => `https://${address}/`),
  ipV6().map((address) => `https://[${address}]/`),
);

describe("any URL", () => {
  it("is https, public, without credentials and on an allowed port, or is refused with a rule (A01, A03, A05, A13, A14, A15)", () => {
    let passed = 0;
    assert(
      property(anyUrl, (text) => {
        let url: URL;
        try {
          url = checkUrl(toUrlRequest(text), guard);
        } catch (error) {
          expect(error).toMatchObject({ code: "security", retryable: false });
          return;
        }
        passed += 1;
        expect([url.protocol, url.username, url.password]).toEqual(["https:", "", ""]);
        expect(["", "80", "8080", "8443"]).toContain(url.port);
        const host = url.hostname.replace(/^\[|\]$/g, "");
        if (isIP(host)) expect(inside.check(host, isIP(host) === 4 ? "ipv4" : "ipv6")).toBe(false);
        else expect(host).toMatch(/^[^.]+(?:\.[^.]+)+\.?$/);
        expect(host).not.toMatch(/(?:^|\.)(?:localhost|local|internal|lan|svc|home\.arpa)\.?$/);
        // What was judged is what is asked: written down and read again it is the same.
        expect(new URL(url.href).host).toBe(url.host);
      }),
      { numRuns: 3000 },
    );
    expect(passed).toBeGreaterThan(100);
  });
});
