import { BlockList, isIP, isIPv4, isIPv6 } from "node:net";
import { AgentError } from "capstan";

export type GuardOptions = {
  /** Additional host names, without port. Names of this machine are always allowed. */
  readonly hosts?: readonly string[];
  /** Origins of other sites whose pages may send requests, such as `https://app.example.com`. */
  readonly origins?: readonly string[];
};

/** Throws unless the request is allowed. `arrivedAt` lists names of this machine on the receiving socket. */
export type Guard = (request: Request, arrivedAt?: readonly string[]) => void;

/**
 * Creates a guard against DNS rebinding (Host), cross-site requests (Origin, Sec-Fetch-Site, simple requests) and
 * keys in the query.
 */
export function createGuard({ hosts = [], origins = [] }: GuardOptions): Guard {
  const names = new Set(hosts.map(normalizeHost));
  const listed = new Set(origins.map(normalizeOrigin));
  return (request, arrivedAt = []) => {
    const url = new URL(request.url);
    const host = request.headers.get("host") ?? url.host;
    for (const given of [host, url.host]) {
      const name = parseHostName(given);
      if (name === undefined || !(isLoopbackHost(name) || names.has(name) || arrivedAt.includes(name)))
        throw new AgentError("misdirected", "Unknown Host header. Add the host to `hosts`.");
    }
    assertSender(request, { url, listed, own: new URL(`${url.protocol}//${host}`).origin });
    assertNotSimpleRequest(request);
    assertNoKeyInQuery(url);
  };
}

type SenderCheck = { readonly url: URL; readonly listed: ReadonlySet<string>; readonly own: string };

/**
 * Refuses pages of other sites. If `Origin` is present, it decides. Without it the sender is a program, a page of
 * this server, or a resource load from any page, which `Sec-Fetch-Site` tells apart.
 */
function assertSender(request: Request, { url, listed, own }: SenderCheck): void {
  const origin = request.headers.get("origin");
  if (origin !== null && listed.has(origin)) return;
  if (origin !== null && origin !== own)
    throw new AgentError("forbidden", "Requests from this origin are not allowed. Add it to `origins`.");
  const site = request.headers.get("sec-fetch-site");
  if (site === null || site === "same-origin" || site === "none") return;
  if (isNavigation(request) && !isApiPath(url.pathname)) return;
  throw new AgentError("forbidden", "Cross-site requests are not allowed.");
}

/** A top-level navigation: a link opened in a window, not in a frame. */
function isNavigation({ method, headers }: Request): boolean {
  const isRead = method === "GET" || method === "HEAD";
  const isWhole = (headers.get("sec-fetch-dest") ?? "document") === "document";
  return isRead && isWhole && headers.get("sec-fetch-mode") === "navigate";
}

/** Whether a path belongs to an API, which has no pages. */
export function isApiPath(path: string): boolean {
  return /^\/(?:api|v1|mcp)(?:\/|$)/i.test(path);
}

/** Any page can send forms and plain text without a preflight, but not JSON. */
function assertNotSimpleRequest({ method, headers }: Request): void {
  if (method === "GET" || method === "HEAD" || method === "OPTIONS") return;
  const type = headers.get("content-type");
  // Files are uploaded with PUT, which no page can send to another site without a preflight.
  if (method === "PUT" && type === "application/octet-stream") return;
  if (type !== null && !isJsonType(type)) throw createNotJsonError();
}

/** Whether a content type is JSON in UTF-8. */
export function isJsonType(contentType: string): boolean {
  return /^application\/json\s*(?:;\s*charset\s*=\s*(?:utf-8|"utf-8")\s*)?;?\s*$/i.test(contentType);
}

export function createNotJsonError(): AgentError {
  return new AgentError("unsupported_media_type", "Send JSON with `content-type: application/json`.");
}

const keyNamePattern =
  /^(?:(?:x-)?api[-_]?key|key|(?:access[-_]?|auth[-_]?)?token|authorization|bearer|secret)$/i;

/** Queries end up in logs and browser histories. */
function assertNoKeyInQuery({ searchParams }: URL): void {
  for (const name of searchParams.keys()) {
    if (!keyNamePattern.test(name)) continue;
    const message = `Do not send a key in the URL ("${name}"). Use \`Authorization: Bearer <key>\`, and replace this key, as it may have been logged.`;
    throw new AgentError("invalid_input", message);
  }
}

function normalizeHost(host: string): string {
  const name = host.toLowerCase();
  if (isIP(name) !== 0 || parseHostName(name) === name) return name;
  throw new AgentError(
    "invalid_definition",
    `Invalid entry "${host}" in \`hosts\`: must be a name without scheme and port.`,
  );
}

function normalizeOrigin(origin: string): string {
  if (URL.canParse(origin) && new URL(origin).origin === origin && /^https?:/.test(origin)) return origin;
  const message = `Invalid entry "${origin}" in \`origins\`: must be an origin as browsers send it, such as https://app.example.com.`;
  throw new AgentError("invalid_definition", message);
}

const loopbackAddresses = new BlockList();
loopbackAddresses.addSubnet("127.0.0.0", 8, "ipv4");
loopbackAddresses.addAddress("::1", "ipv6");

/** Whether a name or address, without port and brackets, always means this machine. */
export function isLoopbackHost(name: string): boolean {
  if (name.toLowerCase() === "localhost") return true;
  return isIP(name) !== 0 && loopbackAddresses.check(name, isIPv4(name) ? "ipv4" : "ipv6");
}

/** Parses the name of a `Host` header: lower case, without port and brackets. Returns undefined if invalid. */
export function parseHostName(host: string): string | undefined {
  const [, bracketed, name, port] = /^(?:\[([\da-f:.]+)\]|([\w.-]+))(?::(\d{1,5}))?$/i.exec(host) ?? [];
  if (port !== undefined && Number(port) > 65_535) return undefined;
  if (bracketed !== undefined) return isIPv6(bracketed) ? bracketed.toLowerCase() : undefined;
  return name?.toLowerCase();
}
