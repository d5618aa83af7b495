const metadataNames: ReadonlySet<string> = new Set([
  ...["metadata", "metadata.google.internal", "metadata.goog", "metadata.azure.internal"],
  ...["instance-data", "instance-data.ec2.internal", "metadata.tencentyun.com", "metadata.packet.net"],
]);

/** Suffixes used inside private networks. */
const privateSuffixes: readonly string[] = [
  ...["localhost", "local", "localdomain", "internal", "intranet", "private", "corp", "home", "lan"],
  ...["home.arpa", "svc", "cluster.local"],
];

const maxNameLength = 253;

/** Strips the brackets of an IPv6 address and the trailing dot of a fully qualified name. */
export function normalizeHost(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
}

/** Returns why a name may not be resolved. `metadata` applies even with `allowPrivate`. */
export function checkHostName(host: string, allowPrivate: boolean): "name" | "metadata" | undefined {
  if (metadataNames.has(host)) return "metadata";
  const labels = host.split(".");
  if (host.length > maxNameLength || labels.includes("")) return "name";
  if (allowPrivate) return undefined;
  const isPrivateName = privateSuffixes.some((suffix) => host === suffix || host.endsWith(`.${suffix}`));
  return labels.length === 1 || isPrivateName ? "name" : undefined;
}
