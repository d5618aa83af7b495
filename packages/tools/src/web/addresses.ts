// Which addresses are public. The ranges come from IANA's special-purpose registries (IPv4 and IPv6). For IPv6, only
// global unicast (2000::/3) is public. An IPv4 address embedded in an IPv6 address is checked as IPv4.
import { isIP } from "node:net";
import { AgentError } from "capstan";

/** An address as one number. */
export type Address = { readonly family: 4 | 6; readonly value: bigint };
type AddressRange = { readonly family: 4 | 6; readonly value: bigint; readonly length: number };

export type AddressPolicy = {
  readonly allowPrivate: boolean;
  /** NAT64 prefixes of this network, in addition to 64:ff9b::/96. */
  readonly nat64Prefixes: readonly AddressRange[];
};

const parseRanges = (...texts: readonly string[]): readonly AddressRange[] => texts.map(parseRange);

const parseKnownRanges = () => ({
  /** Where clouds serve credentials. Includes all link-local addresses. */
  metadata: parseRanges(
    ...["169.254.0.0/16", "100.100.100.200/32", "192.0.0.192/32", "168.63.129.16/32"],
    ...["fe80::/10", "fd00:ec2::/32", "fd20:ce::254/128", "fd00:42::42/128"],
  ),
  private: parseRanges(
    ...["10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"],
    ...["::1/128", "fc00::/7"],
  ),
  specialIPv4: parseRanges(
    ...["0.0.0.0/8", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24"],
    ...["203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4"],
  ),
  globalUnicast: parseRange("2000::/3"),
  /** 2001::/23 contains Teredo, 2002::/16 is 6to4: both tunnel to an IPv4 address that the sender chooses. */
  specialIPv6: parseRanges("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"),
  mappedIPv4: parseRange("::ffff:0:0/96"),
  translatedIPv4: parseRange("64:ff9b::/96"),
});

let knownRanges: ReturnType<typeof parseKnownRanges> | undefined;

/** Parses the ranges with the first address: few programs that load the tools make a request. */
function getKnownRanges(): NonNullable<typeof knownRanges> {
  knownRanges ??= parseKnownRanges();
  return knownRanges;
}

/** Returns why an address may not be reached. `metadata` applies even with `allowPrivate`. */
export function checkAddress(text: string, policy: AddressPolicy): "address" | "metadata" | undefined {
  const address = parseAddress(text);
  return address ? checkParsedAddress(address, policy) : "address";
}

function checkParsedAddress(address: Address, policy: AddressPolicy): "address" | "metadata" | undefined {
  const embedded = extractIPv4(address, policy.nat64Prefixes);
  if (embedded !== undefined) return checkParsedAddress({ family: 4, value: embedded }, policy);
  const ranges = getKnownRanges();
  if (isInAny(ranges.metadata, address)) return "metadata";
  if (isInAny(ranges.private, address)) return policy.allowPrivate ? undefined : "address";
  if (address.family === 4) return isInAny(ranges.specialIPv4, address) ? "address" : undefined;
  const isGlobal = isIn(ranges.globalUnicast, address) && !isInAny(ranges.specialIPv6, address);
  const isPublic = isGlobal && !isIsatap(address.value);
  return isPublic ? undefined : "address";
}

/** Compares addresses in any spelling. IPv4-mapped IPv6, as reported by dual-stack sockets, equals the IPv4 address. */
export function isSameAddress(one: string | undefined, other: string): boolean {
  const [left, right] = [toComparableAddress(one), toComparableAddress(other)];
  return left !== undefined && right !== undefined && left === right;
}

function toComparableAddress(text: string | undefined): string | undefined {
  const address = text === undefined ? undefined : parseAddress(text);
  if (!address) return undefined;
  return isIn(getKnownRanges().mappedIPv4, address)
    ? `4 ${getLowest32Bits(address.value)}`
    : `${address.family} ${address.value}`;
}

/** Returns undefined for invalid addresses, and for addresses with a zone, which are link-local. */
export function parseAddress(text: string): Address | undefined {
  const family = isIP(text);
  if (family === 4) return { family, value: joinBits(text.split(".").map(Number), 8n) };
  if (family !== 6 || text.includes("%")) return undefined;
  // The URL parser normalizes every spelling to groups of hexadecimal digits.
  const [head = "", tail] = new URL(`http://[${text}]`).hostname.slice(1, -1).split("::");
  const [before, after] = [parseGroups(head), parseGroups(tail ?? "")];
  const zeros = Array<number>(8 - before.length - after.length).fill(0);
  return { family, value: joinBits([...before, ...zeros, ...after], 16n) };
}

function parseGroups(text: string): number[] {
  return text === "" ? [] : text.split(":").map((group) => Number.parseInt(group, 16));
}

function joinBits(numbers: readonly number[], bits: bigint): bigint {
  return numbers.reduce((value, number) => (value << bits) | BigInt(number), 0n);
}

function parseRange(text: string): AddressRange {
  const [base = "", length = ""] = text.split("/");
  const address = parseAddress(base);
  if (!address) throw new AgentError("invalid_definition", `Invalid address range "${text}".`);
  return { ...address, length: Number(length) };
}

const getBitLength = (family: 4 | 6): number => (family === 4 ? 32 : 128);

function isIn(range: AddressRange, { family, value }: Address): boolean {
  const hostBits = BigInt(getBitLength(family) - range.length);
  return range.family === family && value >> hostBits === range.value >> hostBits;
}

const isInAny = (all: readonly AddressRange[], address: Address): boolean =>
  all.some((range) => isIn(range, address));

const getLowest32Bits = (value: bigint): bigint => value & 0xffff_ffffn;

/** An interface id 5efe tunnels to the IPv4 address behind it (ISATAP), in any network. */
function isIsatap(value: bigint): boolean {
  return ((value >> 32n) & 0xfcff_ffffn) === 0x5efen;
}

function extractIPv4(address: Address, nat64Prefixes: readonly AddressRange[]): bigint | undefined {
  const { mappedIPv4, translatedIPv4 } = getKnownRanges();
  if (isInAny([mappedIPv4, translatedIPv4], address)) return getLowest32Bits(address.value);
  const prefix = nat64Prefixes.find((range) => isIn(range, address));
  return prefix && extractTranslatedIPv4(address.value, prefix.length);
}

/** RFC 6052, 2.2: the address follows the prefix and skips bits 64 to 71. */
function extractTranslatedIPv4(value: bigint, length: number): bigint {
  if (length === 96) return getLowest32Bits(value);
  const withoutGap = ((value >> 64n) << 56n) | (value & ((1n << 56n) - 1n));
  return getLowest32Bits(withoutGap >> BigInt(120 - length - 32));
}

const nat64Lengths = [32, 40, 48, 56, 64, 96];

/** Parses prefixes such as "2001:470:64::/96". */
export function parseNat64Prefixes(texts: readonly string[]): readonly AddressRange[] {
  return texts.map((text) => {
    const range = parseRange(text);
    if (range.family === 6 && nat64Lengths.includes(range.length)) return range;
    const message = `Invalid NAT64 prefix "${text}": it must be IPv6 with a length of ${nat64Lengths.join(", ")}.`;
    throw new AgentError("invalid_definition", message);
  });
}
