import { lookup } from "node:dns/promises";
import { connect as connectByNet, isIP, type Socket } from "node:net";
import { AgentError } from "capstan";
import { type AddressPolicy, parseNat64Prefixes } from "./addresses.ts";
import { type CountRequest, countRequests, type FetchLimits } from "./fetch-limits.ts";
import { isReadable } from "./media-types.ts";
import { bareHost } from "./names.ts";

/** Every address of a name. Rejects, or gives none, when there is no such name. */
export type Resolve = (name: string) => Promise<readonly string[]>;

/** Opens a connection to exactly this address. */
export type Connect = (to: { readonly address: string; readonly port: number }) => Socket;

/** What the guarded client lets through. The defaults are for URLs that strangers write. */
export type GuardOptions = {
  /** Also http:, never as a redirect from https:. */
  readonly allowHttp?: boolean;
  /** Also the addresses and names of private networks and of this machine. Metadata services stay refused. */
  readonly allowPrivate?: boolean;
  /** 80, 443, 8080 and 8443 when left out. */
  readonly ports?: readonly number[];
  /** Where this very program is served ("https://agents.example.com", or an address): it must not ask itself. */
  readonly ownOrigins?: readonly string[];
  /** Prefixes by which this network translates IPv6 to IPv4, such as "2001:470:64::/96". */
  readonly nat64Prefixes?: readonly string[];
  /** Certificates (PEM) of authorities that are trusted beside those of Node. Verification cannot be turned off. */
  readonly certificates?: readonly string[];
  readonly userAgent?: string;
  /** Of a body after decompression; 10 MB when left out. */
  readonly maxBytes?: number;
  readonly maxHeaderBytes?: number;
  readonly maxRedirects?: number;
  /** From the look-up to the last byte, redirects included; 30 seconds when left out. */
  readonly totalMs?: number | "unlimited";
  readonly limits?: FetchLimits;
  /** Which bodies are read; texts, JSON, XML and PDF when left out. */
  readonly acceptsMediaType?: (essence: string) => boolean;
  readonly resolve?: Resolve;
  readonly connect?: Connect;
  /** Milliseconds, for the count of requests in a minute. */
  readonly now?: () => number;
};

/** The options with every gap filled. */
export type Guard = Required<
  Omit<GuardOptions, "ports" | "nat64Prefixes" | "ownOrigins" | "limits" | "now">
> & {
  readonly ports: ReadonlySet<number>;
  readonly addresses: AddressPolicy;
  /** Hosts without ports: another port of this machine is this machine. */
  readonly ownHosts: ReadonlySet<string>;
  readonly count: CountRequest;
};

/** Throws `invalid_definition` for options that cannot be followed. */
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
    ...given(settings),
    allowPrivate,
    ports: new Set(ports),
    addresses: { allowPrivate, nat64Prefixes: parseNat64Prefixes(nat64Prefixes) },
    ownHosts: new Set(ownOrigins.map(hostOf)),
    count: countRequests(limits, now),
  };
}

/** A field that is undefined sets nothing. */
function given<Fields extends object>(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Fields;
}

function hostOf(origin: string): string {
  const text = isIP(origin) === 6 ? `[${origin}]` : origin;
  const url = URL.parse(text.includes("://") ? text : `https://${text}`);
  if (url) return bareHost(url.hostname);
  const message = `"${origin}" in ownOrigins is neither an origin nor a host: write it as "https://agents.example.com".`;
  throw new AgentError("invalid_definition", message);
}

async function resolveBySystem(name: string): Promise<readonly string[]> {
  const found = await lookup(name, { all: true });
  return found.map(({ address }) => address);
}

/** By address, so that nothing is looked up a second time; no proxy of the environment is used. */
function connectDirectly({ address, port }: Parameters<Connect>[0]): Socket {
  return connectByNet({ host: address, port, autoSelectFamily: false, noDelay: true });
}
