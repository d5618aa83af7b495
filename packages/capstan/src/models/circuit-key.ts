const secretHeaders = new Set(["authorization", "x-api-key", "x-goog-api-key", "api-key"]);

/** Another `fetch` is another way to the network: what one cannot reach, the other may. */
const networks = new WeakMap<object, number>();
let networkCount = 0;

export type CircuitPlace = {
  readonly url: string;
  readonly id: string;
  readonly headers: { readonly [name: string]: string };
  readonly fetch?: object | undefined;
};

/** Names what fails together: the host, the model and the account. The account's key cannot be had back from it. */
export function circuitKey({ url, id, headers, fetch }: CircuitPlace): string {
  const host = URL.canParse(url) ? new URL(url).host : url;
  return [host, id, fingerprint(headers), fetch ? networkOf(fetch) : ""].join(" ");
}

/** FNV-1a: 32 bits tell accounts apart and are far too few to hold a key. */
function fingerprint(headers: CircuitPlace["headers"]): string {
  let hash = 0x811c9dc5;
  for (const [name, value] of Object.entries(headers)) {
    if (!secretHeaders.has(name.toLowerCase())) continue;
    for (let at = 0; at < value.length; at += 1) hash = Math.imul(hash ^ value.charCodeAt(at), 0x01000193);
  }
  return (hash >>> 0).toString(36);
}

function networkOf(fetch: object): number {
  let network = networks.get(fetch);
  if (network === undefined) {
    networkCount += 1;
    network = networkCount;
    networks.set(fetch, network);
  }
  return network;
}
