import { escapeInvisible } from "../ui/escape-text.ts";

export type SafeLink = {
  readonly href: string;
  /** The full address with invisible characters escaped. */
  readonly address: string;
  /** The real host, if the link text suggests another one. */
  readonly realHost?: string;
};

const protocols = new Set(["http:", "https:", "mailto:"]);
const maxLinkLength = 2000;
// biome-ignore lint/suspicious/noControlCharactersInRegex: browsers ignore them when parsing a scheme
const invisible = /[\u0000-\u0020\u007f-\u00a0\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/u;
const hostLike = /(?:^|[^\w@.-])(?:[a-z]+:\/\/)?(?:[^\s/@]*@)?((?:[\p{L}\p{N}-]+\.)+\p{L}{2,})/iu;

/**
 * Allows http, https and mailto links without a user name (`https://bank.example@evil.example` looks like the bank) and
 * without invisible characters. Returns undefined for everything else. `label` is the link text.
 */
export function parseSafeLink(href: string, label: string): SafeLink | undefined {
  if (href.length > maxLinkLength || invisible.test(href)) return undefined;
  const url = URL.parse(href);
  if (!url || !protocols.has(url.protocol)) return undefined;
  if (url.username !== "" || url.password !== "") return undefined;
  const address = escapeInvisible(url.href);
  if (url.protocol === "mailto:") return { href: url.href, address };
  const { hostname } = url;
  const mentionedHost = hostLike.exec(label)?.[1]?.toLowerCase();
  const isOther = mentionedHost !== undefined && stripWww(mentionedHost) !== stripWww(hostname);
  const isDisguised = hostname.split(".").some((label) => label.startsWith("xn--"));
  return { href: url.href, address, ...((isOther || isDisguised) && { realHost: hostname }) };
}

const stripWww = (host: string): string => host.replace(/^www\./, "");
