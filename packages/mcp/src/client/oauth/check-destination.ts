// A server's metadata names the URLs that a sign-in contacts, which could be used to reach private networks. DNS answers
// are not checked here; an application that needs that passes its own `fetch`.
import { BlockList, isIP } from "node:net";

const loopbackRanges = createBlockList("127.0.0.0/8", "::1/128");
const linkLocalRanges = createBlockList("169.254.0.0/16", "fe80::/10");
const privateRanges = createBlockList(
  ...["0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12"],
  ...["192.0.0.0/24", "192.168.0.0/16", "198.18.0.0/15", "224.0.0.0/4", "240.0.0.0/4"],
  ...["::/127", "64:ff9b::/96", "2001::/32", "2002::/16", "fc00::/7", "fe80::/9", "ff00::/8"],
);
const privateName =
  /^[^.]+$|(?:^|\.)(?:localhost|local|localdomain|internal|intranet|private|corp|home|lan|svc|home\.arpa|metadata\.goog)$/;
const maxUrlLength = 8192;

/** Returns why a URL named by a server must not be contacted or shown. `server` is the configured URL. */
export function checkDestination(server: URL, url: URL): string | undefined {
  if (url.href.length > maxUrlLength) return `it is longer than ${maxUrlLength} characters`;
  if (url.username !== "" || url.password !== "") return "it contains credentials";
  if (url.origin === server.origin && /^https?:$/.test(url.protocol)) return undefined;
  const isLocal = isLoopback(server) && isLoopback(url);
  if (url.protocol !== "https:" && !(url.protocol === "http:" && isLocal)) return "it is not https";
  if (isLinkLocal(url)) return "it is a link-local address";
  if (isPrivate(url) && !isPrivate(server)) return "it is in a private network, and the server is not";
  return undefined;
}

function isLoopback(url: URL): boolean {
  const host = getHost(url);
  return host === "localhost" || host.endsWith(".localhost") || isInRanges(loopbackRanges, host);
}

function isLinkLocal(url: URL): boolean {
  return isInRanges(linkLocalRanges, getHost(url));
}

/** Whether the URL names a public host. An address is none: certificates and origins are for names. */
export function hasPublicName(url: URL): boolean {
  return isIP(getHost(url)) === 0 && !isPrivate(url);
}

function isPrivate(url: URL): boolean {
  const host = getHost(url);
  return isIP(host) === 0 ? privateName.test(host) : isInRanges(privateRanges, host);
}

/** The URL parser has already normalized decimal, octal and hexadecimal addresses. */
function getHost(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
}

function isInRanges(list: BlockList, host: string): boolean {
  const family = isIP(host);
  return family !== 0 && list.check(host, family === 4 ? "ipv4" : "ipv6");
}

function createBlockList(...ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [base = "", length = ""] = range.split("/");
    list.addSubnet(base, Number(length), isIP(base) === 4 ? "ipv4" : "ipv6");
  }
  return list;
}
