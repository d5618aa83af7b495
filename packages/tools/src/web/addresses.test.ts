import { BlockList } from "node:net";
import { assert, bigInt, constantFrom, ipV4, ipV6, property } from "fast-check";
import { describe, expect, it } from "vitest";
import { checkAddress, isSameAddress, parseAddress, parseNat64Prefixes } from "./addresses.ts";

const strict = { allowPrivate: false, nat64Prefixes: [] };
const lenient = { allowPrivate: true, nat64Prefixes: [] };

/** Node's own table of ranges, to compare with ours. */
function createBlockList(...subnets: readonly (readonly [string, number])[]): BlockList {
  const list = new BlockList();
  for (const [base, length] of subnets) list.addSubnet(base, length, base.includes(":") ? "ipv6" : "ipv4");
  return list;
}

const special = createBlockList(
  ...([
    ["0.0.0.0", 8],
    ["10.0.0.0", 8],
    ["100.64.0.0", 10],
    ["127.0.0.0", 8],
    ["169.254.0.0", 16],
    ["172.16.0.0", 12],
    ["192.0.0.0", 24],
    ["192.0.2.0", 24],
    ["192.88.99.0", 24],
    ["192.168.0.0", 16],
    ["198.18.0.0", 15],
    ["198.51.100.0", 24],
    ["203.0.113.0", 24],
    ["224.0.0.0", 3],
    ["168.63.129.16", 32],
  ] as const),
);
const globalUnicast = createBlockList(["2000::", 3]);
const notGlobal = createBlockList(["2001::", 23], ["2001:db8::", 32], ["2002::", 16], ["3fff::", 20]);

const formatIPv6 = (value: bigint): string =>
  Array.from({ length: 8 }, (_, index) => ((value >> BigInt(112 - index * 16)) & 0xffffn).toString(16)).join(
    ":",
  );
const formatIPv4 = (value: bigint): string =>
  Array.from({ length: 4 }, (_, index) => (value >> BigInt(24 - index * 8)) & 0xffn).join(".");
const anyIPv4 = bigInt({ min: 0n, max: (1n << 32n) - 1n });
const anyIPv6 = bigInt({ min: 0n, max: (1n << 128n) - 1n });

describe("an address", () => {
  it("of IPv4 is public exactly when no registry reserves it (A06, A07)", () => {
    assert(
      property(anyIPv4, (value) => {
        const text = formatIPv4(value);
        expect(checkAddress(text, strict) !== undefined).toBe(special.check(text, "ipv4"));
      }),
      { numRuns: 2000 },
    );
  });

  it.each([
    ...["0.0.0.0", "0.255.255.255", "9.255.255.255+", "10.0.0.0", "10.255.255.255", "11.0.0.0+"],
    ...["100.63.255.255+", "100.64.0.0", "100.127.255.255", "100.128.0.0+", "127.255.255.255", "128.0.0.0+"],
    ...["172.15.255.255+", "172.16.0.0", "172.31.255.255", "172.32.0.0+", "192.88.98.255+", "192.88.99.0"],
    ...["198.17.255.255+", "198.18.0.0", "198.19.255.255", "198.20.0.0+", "223.255.255.255+", "224.0.0.0"],
    ...["255.255.255.255", "1.1.1.1+", "8.8.8.8+"],
  ])("at the edge of a range, %s, is on the right side of it; + is public (A06, A07)", (text) => {
    expect(checkAddress(text.replace("+", ""), strict) === undefined).toBe(text.endsWith("+"));
  });

  it("of IPv6 is public only as global unicast outside reserved ranges (A08, A11)", () => {
    assert(
      property(
        anyIPv6,
        constantFrom(0x2n, 0x2606n, 0x2a00n, 0x2001n, 0x2002n, 0x3fffn, 0x5f00n, 0n),
        (value, head) => {
          const text = formatIPv6((head << 112n) | (value & ((1n << 112n) - 1n)));
          const isPublic = globalUnicast.check(text, "ipv6") && !notGlobal.check(text, "ipv6");
          expect(checkAddress(text, strict) === undefined).toBe(isPublic);
        },
      ),
      { numRuns: 2000 },
    );
    expect(checkAddress("2606:4700:4700::1111", strict)).toBeUndefined();
  });

  it("with embedded IPv4, mapped or translated by 64:ff9b::/96, is checked as IPv4 (A09, A10)", () => {
    assert(
      property(anyIPv4, constantFrom(0xffffn << 32n, 0x64ff9bn << 96n), (value, prefix) => {
        const embedded = checkAddress(formatIPv6(prefix | value), strict);
        expect(embedded).toBe(checkAddress(formatIPv4(value), strict));
      }),
    );
  });

  it.each([
    ["::7f00:1", "compatible"],
    ["::808:808", "compatible, of a public one"],
    ["::ffff:0:7f00:1", "translated"],
    ["::ffff:0:808:808", "translated, of a public one"],
    ["2002:a9fe:a9fe::1", "6to4"],
    ["2002:808:808::1", "6to4 of a public one"],
    ["2001:0:4136:e378:8000:63bf:3fff:fdd2", "Teredo"],
    ["2606:4700:1:2:0:5efe:a00:1", "ISATAP"],
    ["2606:4700:1:2:200:5efe:808:808", "ISATAP of a public one"],
    ["fe80::5efe:10.0.0.1", "ISATAP, link-local"],
  ])("%s (%s) is refused in every mode (A09, A11)", (text) => {
    expect(checkAddress(text, strict)).toBeDefined();
    expect(checkAddress(text, lenient)).toBeDefined();
  });

  it("in 64:ff9b:1::/48 is refused with every prefix length (A10)", () => {
    const inside = 0x64ff9b0001n << 80n;
    assert(
      property(anyIPv6, (value) => {
        const text = formatIPv6(inside | (value & ((1n << 80n) - 1n)));
        expect(checkAddress(text, lenient)).toBe("address");
      }),
    );
  });

  it("in a NAT64 prefix of the network is judged by the IPv4 address that follows it (A10)", () => {
    // RFC 6052, 2.4: 192.0.2.33 with each length; here with 10.1.2.33 and 8.1.2.33 in its place.
    const rows: readonly [string, (v4: string) => string][] = [
      ["2001:470::/32", (first) => `2001:470:${first}01:221::`],
      ["2001:470:100::/40", (first) => `2001:470:1${first.padStart(2, "0")}:102:21::`],
      ["2001:470:122::/48", (first) => `2001:470:122:${first}01:2:2100::`],
      ["2001:470:122:300::/56", (first) => `2001:470:122:3${first.padStart(2, "0")}:1:221::`],
      ["2001:470:122:344::/64", (first) => `2001:470:122:344:${first}:102:2100::`],
      ["2001:470:122:344::/96", (first) => `2001:470:122:344::${first}01:221`],
      ["64:ff9b:1::/48", (first) => `64:ff9b:1:${first}01:2:2100::`],
      ["64:ff9b:1::/96", (first) => `64:ff9b:1::${first}01:221`],
    ];
    for (const [prefix, write] of rows) {
      const policy = { allowPrivate: false, nat64Prefixes: parseNat64Prefixes([prefix]) };
      expect([prefix, checkAddress(write("a"), policy)]).toEqual([prefix, "address"]);
      expect([prefix, checkAddress(write("8"), policy)]).toEqual([prefix, undefined]);
    }
  });

  it.each([
    "10.0.0.0/8",
    "2001:470::/33",
    "nonsense/96",
    "2001:470::",
  ])("%s is not a NAT64 prefix", (text) => {
    expect(() => parseNat64Prefixes([text])).toThrow(expect.objectContaining({ code: "invalid_definition" }));
  });

  it.each([
    ...[
      "169.254.169.254",
      "169.254.170.2",
      "169.254.170.23",
      "169.254.0.1",
      "100.100.100.200",
      "192.0.0.192",
    ],
    ...[
      "168.63.129.16",
      "fd00:ec2::254",
      "fd00:ec2::23",
      "fd20:ce::254",
      "fe80::1",
      "::ffff:169.254.169.254",
    ],
    ...["64:ff9b::a9fe:a9fe", "64:ff9b::6464:64c8", "::ffff:a83f:8110"],
  ])("%s of a metadata service is refused in every mode (A12)", (text) => {
    expect(checkAddress(text, strict)).toBe("metadata");
    expect(checkAddress(text, lenient)).toBe("metadata");
  });

  it.each([
    "10.1.2.3",
    "172.16.0.1",
    "192.168.1.1",
    "127.0.0.1",
    "100.64.0.1",
    "::1",
    "fd12::1",
    "::ffff:10.0.0.1",
  ])("%s can be allowed as private (S4-39)", (text) => {
    expect(checkAddress(text, strict)).toBe("address");
    expect(checkAddress(text, lenient)).toBeUndefined();
  });

  it.each([
    "0.0.0.0",
    "::",
    "224.0.0.1",
    "255.255.255.255",
    "ff02::1",
    "192.0.2.1",
    "2001:db8::1",
    "100::1",
    "5f00::1",
    "fec0::1",
  ])("%s is refused also where private ones are allowed (A07, A08)", (text) => {
    expect(checkAddress(text, lenient)).toBe("address");
  });

  it.each([
    "",
    "localhost",
    "1.2.3",
    "127.0.0.01",
    "fe80::1%eth0",
    "1.2.3.4 ",
    "[::1]",
    "::ffff:1.2.3.4.5",
  ])("that is invalid, %j, is refused", (text) => {
    expect(checkAddress(text, strict)).toBe("address");
  });

  it("is parsed from every spelling", () => {
    assert(
      property(anyIPv6, ipV4(), ipV6(), (value, v4, v6) => {
        expect(parseAddress(formatIPv6(value))).toEqual({ family: 6, value });
        expect(parseAddress(formatIPv6(value).toUpperCase())?.value).toBe(value);
        expect(
          isSameAddress(new URL(`http://[${formatIPv6(value)}]`).hostname.slice(1, -1), formatIPv6(value)),
        ).toBe(true);
        expect(isSameAddress(`::ffff:${v4}`, v4)).toBe(true);
        expect(isSameAddress(v6, v6.toUpperCase())).toBe(true);
      }),
    );
    expect(isSameAddress("1.2.3.4", "1.2.3.5")).toBe(false);
    expect(isSameAddress(undefined, "1.2.3.4")).toBe(false);
    expect(isSameAddress("nothing", "nothing")).toBe(false);
  });
});
