// Metadata of a server name the addresses that are asked during a sign-in, so they are a way to reach inside. What a
// name resolves to is not looked at here: an application that needs it gives a `fetch` that does.
import { BlockList, isIP } from "node:net";

const loopback = blockList("127.0.0.0/8", "::1/128");
const linkLocal = blockList("169.254.0.0/16", "fe80::/10");
const inside = blockList(
  ...["0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12"],
  ...["192.0.0.0/24", "192.168.0.0/16", "198.18.0.0/15", "224.0.0.0/4", "240.0.0.0/4"],
  ...["::/127", "64:ff9b::/96", "2001::/32", "2002::/16", "fc00::/7", "fe80::/9", "ff00::/8"],
);
const insideName = /^[^.]+$|\.(?:localhost|local|localdomain|internal|intranet|lan|home\.arpa)$/;
const longestUrl = 8192;

/** Why a URL that a server named may not be asked or shown, or nothing. `server` is the URL that a person configured. */
export function destinationProblem(server: URL, url: URL): string | undefined {
  if (url.href.length > longestUrl) return `it is longer than ${longestUrl} characters`;
  if (url.username !== "" || url.password !== "") return "it has a user name in it";
  if (url.origin === server.origin && /^https?:$/.test(url.protocol)) return undefined;
  const isLocal = isLoopback(server) && isLoopback(url);
  if (url.protocol !== "https:" && !(url.protocol === "http:" && isLocal)) return "it is not https";
  if (isLinkLocal(url)) return "it is a link-local address";
  if (isInside(url) && !isInside(server)) return "it is inside a private network, and the server is not";
  return undefined;
}

function isLoopback(url: URL): boolean {
  const host = bareHost(url);
  return host === "localhost" || host.endsWith(".localhost") || isListed(loopback, host);
}

function isLinkLocal(url: URL): boolean {
  return isListed(linkLocal, bareHost(url));
}

function isInside(url: URL): boolean {
  const host = bareHost(url);
  return isIP(host) === 0 ? insideName.test(host) : isListed(inside, host);
}

/** The URL parser has already brought decimal, octal and hexadecimal addresses into one form. */
function bareHost(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
}

function isListed(list: BlockList, host: string): boolean {
  const family = isIP(host);
  return family !== 0 && list.check(host, family === 4 ? "ipv4" : "ipv6");
}

function blockList(...ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [base = "", length = ""] = range.split("/");
    list.addSubnet(base, Number(length), isIP(base) === 4 ? "ipv4" : "ipv6");
  }
  return list;
}
