import { isIP } from "node:net";
import { checkAddress, isSameAddress } from "./addresses.ts";
import { type Guard, type GuardOptions, toGuard } from "./guard.ts";
import { createGuardRefusal, toFetchError } from "./guard-errors.ts";
import { checkHostName, normalizeHost } from "./host-names.ts";
import { waitOrAbort } from "./wait-or-abort.ts";

const maxUrlLength = 8192;
const maxShownLength = 200;

/** A URL to check. Messages call it `subject`; `base` resolves a relative URL. */
export type UrlRequest = { readonly text: string; readonly subject: string; readonly base?: URL };

/** For a URL that the caller supplied: messages may repeat it. */
export function toUrlRequest(text: string): UrlRequest {
  return { text, subject: JSON.stringify(text.slice(0, maxShownLength)) };
}

/**
 * Parses a URL and checks everything that needs no DNS lookup. The request is made from the same parse result, so the
 * host that was checked is the host that is contacted.
 */
export function checkUrl({ text, subject, base }: UrlRequest, guard: Guard): URL {
  const url = parseUrl({ text, subject, ...(base && { base }) });
  if (url.protocol !== "https:" && !(url.protocol === "http:" && guard.allowHttp)) {
    const schemes = guard.allowHttp ? "http and https are" : "https is";
    throw createGuardRefusal("scheme", `${subject} was refused: only ${schemes} allowed. Use an https URL.`);
  }
  if (url.username !== "" || url.password !== "") {
    throw createGuardRefusal(
      "userinfo",
      `${subject} was refused: it contains credentials. Remove everything before the "@".`,
    );
  }
  const port = getPort(url);
  if (!guard.ports.has(port)) {
    const ports = [...guard.ports].join(", ");
    throw createGuardRefusal(
      "port",
      `${subject} was refused: port ${port} is not allowed. Allowed ports: ${ports}.`,
    );
  }
  checkHost(normalizeHost(url.hostname), subject, guard);
  return url;
}

function parseUrl({ text, subject, base }: UrlRequest): URL {
  if (text.length > maxUrlLength)
    throw createGuardRefusal(
      "url",
      `A URL of ${text.length} characters was refused: the limit is ${maxUrlLength}.`,
    );
  // The parser drops tabs and line breaks and turns "\" into "/", so the user would have seen a different URL.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
  if (/[\u0000-\u001f\u007f\\]/.test(text))
    throw createGuardRefusal(
      "url",
      `${subject} was refused: it contains control characters or backslashes. Remove them.`,
    );
  const url = URL.parse(text, base);
  if (!url)
    throw createGuardRefusal(
      "url",
      `${subject} was refused: it is not a valid URL. Use "https://host/path".`,
    );
  return url;
}

export function getPort(url: URL): number {
  return Number(url.port) || (url.protocol === "https:" ? 443 : 80);
}

function checkHost(host: string, subject: string, guard: Guard): void {
  assertNotOwnHost(host, subject, guard);
  const problem = isIP(host)
    ? checkAddress(host, guard.addresses)
    : checkHostName(host, guard.addresses.allowPrivate);
  if (problem) throw createHostRefusal(problem, subject);
}

function assertNotOwnHost(host: string, subject: string, { ownHosts }: Guard): void {
  const isOwnHost = [...ownHosts].some((own) => own === host || (isIP(own) && isSameAddress(own, host)));
  if (isOwnHost)
    throw createGuardRefusal(
      "own_origin",
      `${subject} was refused: it is this service itself. Use its tools instead.`,
    );
}

function createHostRefusal(problem: "address" | "metadata" | "name", subject: string): Error {
  const what = problem === "metadata" ? "a metadata service" : "not on the public internet";
  return createGuardRefusal(problem, `${subject} was refused: it is ${what}. Use a public address.`);
}

/**
 * Resolves the host of a URL. A single forbidden address refuses the host, because the connection could go to any of
 * them.
 */
export async function resolveAddresses(
  url: URL,
  subject: string,
  { guard, signal }: { readonly guard: Guard; readonly signal: AbortSignal },
): Promise<readonly string[]> {
  const host = normalizeHost(url.hostname);
  if (isIP(host)) return [host];
  const addresses = await waitOrAbort(guard.resolve(host), signal);
  if (addresses.length === 0) throw Object.assign(new Error("No address."), { code: "ENOTFOUND" });
  for (const address of addresses) {
    const problem = checkAddress(address, guard.addresses);
    if (problem) throw createHostRefusal(problem, subject);
    assertNotOwnHost(address, subject, guard);
  }
  return addresses;
}

/**
 * Checks that a URL is https and public: resolves its host and checks every address. For URLs shown to the user, such as
 * the `authorization_endpoint` of an OAuth server. Open the URL without a shell.
 */
export async function checkPublicUrl(
  text: string,
  options: Pick<GuardOptions, "ports" | "ownOrigins" | "nat64Prefixes" | "resolve"> & {
    readonly signal?: AbortSignal;
  } = {},
): Promise<URL> {
  const { signal = AbortSignal.timeout(10_000), ...settings } = options;
  const guard = toGuard({ ...settings, allowHttp: false, allowPrivate: false });
  const { subject } = toUrlRequest(text);
  const url = checkUrl({ text, subject }, guard);
  try {
    await resolveAddresses(url, subject, { guard, signal });
  } catch (thrown) {
    throw toFetchError(thrown, normalizeHost(url.hostname));
  }
  return url;
}
