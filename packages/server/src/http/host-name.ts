import { BlockList, isIP, isIPv4, isIPv6 } from "node:net";

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
