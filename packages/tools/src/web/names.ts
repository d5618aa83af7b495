const metadataNames: ReadonlySet<string> = new Set([
  ...["metadata", "metadata.google.internal", "metadata.goog", "metadata.azure.internal"],
  ...["instance-data", "instance-data.ec2.internal", "metadata.tencentyun.com", "metadata.packet.net"],
]);

/** Names that networks give to what is inside them. */
const insideSuffixes: readonly string[] = [
  ...["localhost", "local", "localdomain", "internal", "intranet", "private", "corp", "home", "lan"],
  ...["home.arpa", "svc", "cluster.local"],
];

const longestName = 253;

/** A host as a rule reads it: without the brackets of an IPv6 address and the dot of a full name. */
export function bareHost(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
}

/** Why a name may not be looked up, or nothing. `metadata` holds in every mode. */
export function nameProblem(host: string, allowPrivate: boolean): "name" | "metadata" | undefined {
  if (metadataNames.has(host)) return "metadata";
  const labels = host.split(".");
  if (host.length > longestName || labels.includes("")) return "name";
  if (allowPrivate) return undefined;
  const isInside = insideSuffixes.some((suffix) => host === suffix || host.endsWith(`.${suffix}`));
  return labels.length === 1 || isInside ? "name" : undefined;
}
