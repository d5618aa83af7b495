import { lookup } from "node:dns/promises";
import { connect as connectByNet, isIP, type Socket } from "node:net";
import { AgentError } from "capstan";
import { type AddressPolicy, parseNat64Prefixes } from "./addresses.ts";
import { normalizeHost } from "./host-names.ts";
import { isReadable } from "./media-types.ts";
import { type CountRequest, createRequestCounter, type FetchLimits } from "./request-counter.ts";

/** Resolves a host name to all its addresses. Rejects or returns none if the name does not exist. */
export type Resolve = (name: string) => Promise<readonly string[]>;

/** Connects to exactly this address. */
export type Connect = (to: { readonly address: string; readonly port: number }) => Socket;

/** Options of the guarded client. The defaults are safe for untrusted URLs. */
export type GuardOptions = {
  /** Also allow http:, but never a redirect from https: to http:. */
  readonly allowHttp?: boolean;
  /** Also allow private networks and this machine. Metadata services stay blocked. */
  readonly allowPrivate?: boolean;
  /** Default: 80, 443, 8080 and 8443. */
  readonly ports?: readonly number[];
  /** Origins or addresses of this service itself ("https://agents.example.com"), which are blocked. */
  readonly ownOrigins?: readonly string[];
  /** NAT64 prefixes of this network, such as "2001:470:64::/96". */
  readonly nat64Prefixes?: readonly string[];
  /** PEM certificates of additional authorities. Verification cannot be turned off. */
  readonly certificates?: readonly string[];
  readonly userAgent?: string;
  /** Max size of a body after decompression; default 10 MB. */
  readonly maxBytes?: number;
  readonly maxHeaderBytes?: number;
  readonly maxRedirects?: number;
  /** From the DNS lookup to the last byte, including redirects; default 30 seconds. */
  readonly totalMs?: number | "unlimited";
  readonly limits?: FetchLimits;
  /** Media types to read; default: text, JSON, XML and PDF. */
  readonly acceptsMediaType?: (essence: string) => boolean;
  readonly resolve?: Resolve;
  readonly connect?: Connect;
  /** Clock in milliseconds, for the rate limit. */
  readonly now?: () => number;
};

/** The options with defaults applied. */
export type Guard = Required<
  Omit<GuardOptions, "ports" | "nat64Prefixes" | "ownOrigins" | "limits" | "now">
> & {
  readonly ports: ReadonlySet<number>;
  readonly addresses: AddressPolicy;
  /** Without ports: another port of this machine is still this machine. */
  readonly ownHosts: ReadonlySet<string>;
  readonly count: CountRequest;
};

/** Throws `invalid_definition` for invalid options. */
export function toGuard(options: GuardOptions): Guard {
  const {
    ports = [80, 443, 8080, 8443],
    nat64Prefixes = [],
    ownOrigins = [],
    limits = {},
    ...rest
  } = options;
  const { now = () => performance.now(), ...settings } = rest;
  const allowPrivate = settings.allowPrivate ?? false;
  return {
    allowHttp: false,
    certificates: [],
    userAgent: "Capstan",
    maxBytes: 10_000_000,
    maxHeaderBytes: 65_536,
    maxRedirects: 5,
    totalMs: 30_000,
    acceptsMediaType: isReadable,
    resolve: resolveBySystem,
    connect: connectDirectly,
    ...omitUndefined(settings),
    allowPrivate,
    ports: new Set(ports),
    addresses: { allowPrivate, nat64Prefixes: parseNat64Prefixes(nat64Prefixes) },
    ownHosts: new Set(ownOrigins.map(parseOwnHost)),
    count: createRequestCounter(limits, now),
  };
}

function omitUndefined<Fields extends object>(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Fields;
}

function parseOwnHost(origin: string): string {
  const text = isIP(origin) === 6 ? `[${origin}]` : origin;
  const url = URL.parse(text.includes("://") ? text : `https://${text}`);
  if (url) return normalizeHost(url.hostname);
  const message = `Invalid origin "${origin}" in ownOrigins: use a form like "https://agents.example.com".`;
  throw new AgentError("invalid_definition", message);
}

async function resolveBySystem(name: string): Promise<readonly string[]> {
  const found = await lookup(name, { all: true });
  return found.map(({ address }) => address);
}

/** Connects by address, so that there is no second DNS lookup. Ignores proxy settings of the environment. */
function connectDirectly({ address, port }: Parameters<Connect>[0]): Socket {
  return connectByNet({ host: address, port, autoSelectFamily: false, noDelay: true });
}
