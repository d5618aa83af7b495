import { isIP } from "node:net";
import { addressProblem, isSameAddress } from "./addresses.ts";
import { type Guard, type GuardOptions, toGuard } from "./guard.ts";
import { bareHost, nameProblem } from "./names.ts";
import { failureOf, refusal } from "./refusal.ts";
import { untilAborted } from "./until-aborted.ts";

const longestUrl = 8192;
const longestShown = 200;

/** A URL to judge. `subject` is what messages call it; `base` is what a relative one is relative to. */
export type Asked = { readonly text: string; readonly subject: string; readonly base?: URL };

/** A URL as somebody asked for it: messages may repeat it. */
export function asked(text: string): Asked {
  return { text, subject: JSON.stringify(text.slice(0, longestShown)) };
}

/**
 * The URL when everything that can be seen without a look-up is allowed. There is one parser, the one that the request
 * is made from, so the host that is judged is the host that is asked.
 */
export function checkUrl({ text, subject, base }: Asked, guard: Guard): URL {
  const url = parsed({ text, subject, ...(base && { base }) });
  if (url.protocol !== "https:" && !(url.protocol === "http:" && guard.allowHttp)) {
    const schemes = guard.allowHttp ? "http and https are" : "https is";
    throw refusal("scheme", `${subject} is not fetched: only ${schemes} allowed. Use an https URL.`);
  }
  if (url.username !== "" || url.password !== "") {
    throw refusal(
      "userinfo",
      `${subject} is not fetched: it has a user name in it. Leave out all before the "@".`,
    );
  }
  const port = portOf(url);
  if (!guard.ports.has(port)) {
    const ports = [...guard.ports].join(", ");
    throw refusal("port", `${subject} is not fetched: port ${port} is not allowed, only ${ports} are.`);
  }
  checkHost(bareHost(url.hostname), subject, guard);
  return url;
}

function parsed({ text, subject, base }: Asked): URL {
  if (text.length > longestUrl)
    throw refusal("url", `A URL of ${text.length} characters is not fetched: ${longestUrl} are allowed.`);
  // The parser leaves out tabs and line breaks and turns "\" into "/": what a person was shown would be another URL.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
  if (/[\u0000-\u001f\u007f\\]/.test(text))
    throw refusal(
      "url",
      `${subject} is not fetched: it has control characters or backslashes. Leave them out.`,
    );
  const url = URL.parse(text, base);
  if (!url) throw refusal("url", `${subject} is not fetched: it is no URL. Write it as "https://host/path".`);
  return url;
}

/** The port that is connected to. */
export function portOf(url: URL): number {
  return Number(url.port) || (url.protocol === "https:" ? 443 : 80);
}

function checkHost(host: string, subject: string, guard: Guard): void {
  checkOwn(host, subject, guard);
  const problem = isIP(host)
    ? addressProblem(host, guard.addresses)
    : nameProblem(host, guard.addresses.allowPrivate);
  if (problem) throw refused(problem, subject);
}

function checkOwn(host: string, subject: string, { ownHosts }: Guard): void {
  const isOwn = [...ownHosts].some((own) => own === host || (isIP(own) && isSameAddress(own, host)));
  if (isOwn)
    throw refusal("own_origin", `${subject} is not fetched: it is this very service. Use its tools instead.`);
}

function refused(problem: "address" | "metadata" | "name", subject: string): Error {
  const what =
    problem === "metadata" ? "a metadata service, which is never asked" : "not on the public internet";
  return refusal(problem, `${subject} is not fetched: it is ${what}. Use a public address.`);
}

/**
 * The addresses of a URL's host, each of them checked: one that is not allowed refuses the name, for nobody knows
 * which of them a connection would go to.
 */
export async function checkedAddresses(
  url: URL,
  subject: string,
  { guard, signal }: { readonly guard: Guard; readonly signal: AbortSignal },
): Promise<readonly string[]> {
  const host = bareHost(url.hostname);
  if (isIP(host)) return [host];
  const addresses = await untilAborted(guard.resolve(host), signal);
  if (addresses.length === 0) throw Object.assign(new Error("No address."), { code: "ENOTFOUND" });
  for (const address of addresses) {
    const problem = addressProblem(address, guard.addresses);
    if (problem) throw refused(problem, subject);
    checkOwn(address, subject, guard);
  }
  return addresses;
}

/**
 * The URL when it is https, public and without tricks, its name looked up and every address of it checked. For URLs
 * that are shown to a person, such as the `authorization_endpoint` that an OAuth server names. Open it without a shell.
 */
export async function checkPublicUrl(
  text: string,
  options: Pick<GuardOptions, "ports" | "ownOrigins" | "nat64Prefixes" | "resolve"> & {
    readonly signal?: AbortSignal;
  } = {},
): Promise<URL> {
  const { signal = AbortSignal.timeout(10_000), ...settings } = options;
  const guard = toGuard({ ...settings, allowHttp: false, allowPrivate: false });
  const { subject } = asked(text);
  const url = checkUrl({ text, subject }, guard);
  try {
    await checkedAddresses(url, subject, { guard, signal });
  } catch (thrown) {
    throw failureOf(thrown, bareHost(url.hostname));
  }
  return url;
}
