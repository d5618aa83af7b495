// Which addresses are public. The ranges are those of IANA's registries for special purposes (IPv4 and IPv6); of IPv6
// nothing but global unicast (2000::/3) is public. An IPv4 address inside an IPv6 one is judged as what it is.
import { isIP } from "node:net";
import { AgentError } from "capstan";

/** One number for the whole address. */
export type Address = { readonly family: 4 | 6; readonly value: bigint };
type Range = { readonly family: 4 | 6; readonly value: bigint; readonly length: number };

/** What is public, and what else may be reached. */
export type AddressPolicy = {
  readonly allowPrivate: boolean;
  /** Prefixes by which this network translates to IPv4, beside 64:ff9b::/96. */
  readonly nat64Prefixes: readonly Range[];
};

const ranges = (...texts: readonly string[]): readonly Range[] => texts.map(rangeOf);

/** Where clouds hand out credentials. All link-local addresses are such places, so all are refused. */
const metadata = ranges(
  ...["169.254.0.0/16", "100.100.100.200/32", "192.0.0.192/32", "168.63.129.16/32"],
  ...["fe80::/10", "fd00:ec2::/32", "fd20:ce::254/128", "fd00:42::42/128"],
);
const privateRanges = ranges(
  ...["10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"],
  ...["::1/128", "fc00::/7"],
);
const specialIPv4 = ranges(
  ...["0.0.0.0/8", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24"],
  ...["203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4"],
);
const [globalUnicast] = ranges("2000::/3") as [Range];
/** 2001::/23 has Teredo in it, 2002::/16 is 6to4: both lead to an IPv4 address of the sender's choice. */
const specialIPv6 = ranges("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20");
const withIPv4AtTheEnd = ranges("::ffff:0:0/96", "64:ff9b::/96");

/** Why an address may not be reached, or nothing. `metadata` holds in every mode. */
export function addressProblem(text: string, policy: AddressPolicy): "address" | "metadata" | undefined {
  const address = parseAddress(text);
  return address ? problemOf(address, policy) : "address";
}

function problemOf(address: Address, policy: AddressPolicy): "address" | "metadata" | undefined {
  const embedded = embeddedIPv4(address, policy.nat64Prefixes);
  if (embedded !== undefined) return problemOf({ family: 4, value: embedded }, policy);
  if (isInAny(metadata, address)) return "metadata";
  if (isInAny(privateRanges, address)) return policy.allowPrivate ? undefined : "address";
  if (address.family === 4) return isInAny(specialIPv4, address) ? "address" : undefined;
  const isPublic = isIn(globalUnicast, address) && !isInAny(specialIPv6, address) && !isIsatap(address.value);
  return isPublic ? undefined : "address";
}

/** Whether two spellings are the same address; IPv4 inside IPv6, as dual sockets report it, is the same. */
export function isSameAddress(one: string | undefined, other: string): boolean {
  const [left, right] = [plain(one), plain(other)];
  return left !== undefined && right !== undefined && left === right;
}

function plain(text: string | undefined): string | undefined {
  const address = text === undefined ? undefined : parseAddress(text);
  if (!address) return undefined;
  const [mapped] = withIPv4AtTheEnd as [Range];
  return isIn(mapped, address) ? `4 ${lowest32(address.value)}` : `${address.family} ${address.value}`;
}

/** Nothing for what is no address; an address with a zone is none for us, for it is link-local. */
export function parseAddress(text: string): Address | undefined {
  const family = isIP(text);
  if (family === 4) return { family, value: joined(text.split(".").map(Number), 8n) };
  if (family !== 6 || text.includes("%")) return undefined;
  // The URL parser writes every spelling as groups of hexadecimal digits.
  const [head = "", tail] = new URL(`http://[${text}]`).hostname.slice(1, -1).split("::");
  const [before, after] = [groups(head), groups(tail ?? "")];
  const zeros = Array<number>(8 - before.length - after.length).fill(0);
  return { family, value: joined([...before, ...zeros, ...after], 16n) };
}

function groups(text: string): number[] {
  return text === "" ? [] : text.split(":").map((group) => Number.parseInt(group, 16));
}

function joined(numbers: readonly number[], bits: bigint): bigint {
  return numbers.reduce((value, number) => (value << bits) | BigInt(number), 0n);
}

function rangeOf(text: string): Range {
  const [base = "", length = ""] = text.split("/");
  const address = parseAddress(base);
  if (!address) throw new AgentError("invalid_definition", `"${text}" is no range of addresses.`);
  return { ...address, length: Number(length) };
}

const bitsOf = (family: 4 | 6): number => (family === 4 ? 32 : 128);

function isIn(range: Range, { family, value }: Address): boolean {
  const rest = BigInt(bitsOf(family) - range.length);
  return range.family === family && value >> rest === range.value >> rest;
}

const isInAny = (all: readonly Range[], address: Address): boolean =>
  all.some((range) => isIn(range, address));

const lowest32 = (value: bigint): bigint => value & 0xffff_ffffn;

/** An interface that is named 5efe tunnels to the IPv4 address behind it, whatever network is before it. */
function isIsatap(value: bigint): boolean {
  return ((value >> 32n) & 0xfcff_ffffn) === 0x5efen;
}

function embeddedIPv4(address: Address, nat64Prefixes: readonly Range[]): bigint | undefined {
  if (isInAny(withIPv4AtTheEnd, address)) return lowest32(address.value);
  const own = nat64Prefixes.find((range) => isIn(range, address));
  return own && translatedIPv4(address.value, own.length);
}

/** RFC 6052, 2.2: the address follows the prefix, and bits 64 to 71 are never part of it. */
function translatedIPv4(value: bigint, length: number): bigint {
  if (length === 96) return lowest32(value);
  const withoutGap = ((value >> 64n) << 56n) | (value & ((1n << 56n) - 1n));
  return lowest32(withoutGap >> BigInt(120 - length - 32));
}

const nat64Lengths = [32, 40, 48, 56, 64, 96];

/** Reads prefixes such as "2001:470:64::/96". */
export function parseNat64Prefixes(texts: readonly string[]): readonly Range[] {
  return texts.map((text) => {
    const range = rangeOf(text);
    if (range.family === 6 && nat64Lengths.includes(range.length)) return range;
    const message = `"${text}" is no NAT64 prefix: it must be IPv6, with a length of ${nat64Lengths.join(", ")}.`;
    throw new AgentError("invalid_definition", message);
  });
}
