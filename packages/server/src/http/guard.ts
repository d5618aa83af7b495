import { BlockList, isIP, isIPv4, isIPv6 } from "node:net";
import { AgentError } from "capstan";

/** Which names a request may come to and from. */
export type GuardOptions = {
  /** Host names beside those of this machine, without port. */
  readonly hosts?: readonly string[];
  /** Origins of other sites whose pages may ask, such as `https://app.example.com`. */
  readonly origins?: readonly string[];
};

/** Lets a request in, or throws. `arrivedAt`: what this machine is called where the request came in. */
export type Guard = (request: Request, arrivedAt?: readonly string[]) => void;

/** Checks where a request goes to, which page has sent it, and that it is none that any page could send. */
export function guard({ hosts = [], origins = [] }: GuardOptions): Guard {
  const names = new Set(hosts.map(checkedHost));
  const listed = new Set(origins.map(checkedOrigin));
  return (request, arrivedAt = []) => {
    const url = new URL(request.url);
    const host = request.headers.get("host") ?? url.host;
    for (const given of [host, url.host]) {
      const name = hostName(given);
      if (name === undefined || !(isLoopback(name) || names.has(name) || arrivedAt.includes(name)))
        throw new AgentError("misdirected", "This server does not answer to this Host: add it to `hosts`.");
    }
    assertSender(request, { url, listed, own: new URL(`${url.protocol}//${host}`).origin });
    assertNotSimple(request);
    assertNoKey(url);
  };
}

type Sender = { readonly url: URL; readonly listed: ReadonlySet<string>; readonly own: string };

/**
 * A page of another site may not ask. With an `Origin` that decides. Without one it is a program, a page of our own, or
 * something that any page can make a browser load: then the browser says so itself, in `Sec-Fetch-Site`.
 */
function assertSender(request: Request, { url, listed, own }: Sender): void {
  const origin = request.headers.get("origin");
  if (origin !== null && listed.has(origin)) return;
  if (origin !== null && origin !== own)
    throw new AgentError("forbidden", "Pages of this origin may not ask: add it to `origins`.");
  const site = request.headers.get("sec-fetch-site");
  if (site === null || site === "same-origin" || site === "none") return;
  if (isNavigation(request) && !isEndpoint(url.pathname)) return;
  throw new AgentError("forbidden", "Pages of other sites may not ask.");
}

/** Somebody follows a link to a page, in a window and not in a frame. */
function isNavigation({ method, headers }: Request): boolean {
  const isRead = method === "GET" || method === "HEAD";
  const isWhole = (headers.get("sec-fetch-dest") ?? "document") === "document";
  return isRead && isWhole && headers.get("sec-fetch-mode") === "navigate";
}

/** Whether a path is one of the interfaces, where there are no pages. */
export function isEndpoint(path: string): boolean {
  return /^\/(?:api|v1|mcp)(?:\/|$)/i.test(path);
}

/** Forms and plain text can be sent by any page without asking first; JSON cannot. */
function assertNotSimple({ method, headers }: Request): void {
  if (method === "GET" || method === "HEAD" || method === "OPTIONS") return;
  const type = headers.get("content-type");
  if (type !== null && !isJson(type)) throw notJson();
}

/** Whether a content type is JSON in UTF-8. */
export function isJson(contentType: string): boolean {
  return /^application\/json\s*(?:;\s*charset\s*=\s*(?:utf-8|"utf-8")\s*)?;?\s*$/i.test(contentType);
}

/** For a body that says that it is something else. */
export function notJson(): AgentError {
  return new AgentError("unsupported_media_type", "Send JSON, with `content-type: application/json`.");
}

const keyNames = /^(?:(?:x-)?api[-_]?key|key|(?:access[-_]?|auth[-_]?)?token|authorization|bearer|secret)$/i;

/** A query ends up in logs and histories. */
function assertNoKey({ searchParams }: URL): void {
  for (const name of searchParams.keys()) {
    if (!keyNames.test(name)) continue;
    const message = `A key does not belong into an address ("${name}"): send it as \`Authorization: Bearer <key>\`, and make a new one, as this one may be in a log.`;
    throw new AgentError("invalid_input", message);
  }
}

function checkedHost(host: string): string {
  const name = host.toLowerCase();
  if (isIP(name) !== 0 || hostName(name) === name) return name;
  throw new AgentError("invalid_definition", `\`hosts\` has "${host}": give a name without scheme and port.`);
}

function checkedOrigin(origin: string): string {
  if (URL.canParse(origin) && new URL(origin).origin === origin && /^https?:/.test(origin)) return origin;
  const message = `\`origins\` has "${origin}": give each as the browser sends it, such as https://app.example.com.`;
  throw new AgentError("invalid_definition", message);
}

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8, "ipv4");
loopback.addAddress("::1", "ipv6");

/** Whether a name or an address, without port and brackets, is this machine and can be nothing else. */
export function isLoopback(name: string): boolean {
  if (name.toLowerCase() === "localhost") return true;
  return isIP(name) !== 0 && loopback.check(name, isIPv4(name) ? "ipv4" : "ipv6");
}

/** The name of a `Host`, in lower case and without port and brackets; undefined when it is none. */
export function hostName(host: string): string | undefined {
  const [, bracketed, name, port] = /^(?:\[([\da-f:.]+)\]|([\w.-]+))(?::(\d{1,5}))?$/i.exec(host) ?? [];
  if (port !== undefined && Number(port) > 65_535) return undefined;
  if (bracketed !== undefined) return isIPv6(bracketed) ? bracketed.toLowerCase() : undefined;
  return name?.toLowerCase();
}
