import { visibleText } from "./visible-text.ts";

export type SafeLink = {
  readonly href: string;
  /** The whole address with nothing hidden in it, for people. */
  readonly address: string;
  /** Where it leads, when the words of the link may make one think of another place. */
  readonly realHost?: string;
};

const protocols = new Set(["http:", "https:", "mailto:"]);
const longest = 2000;
// biome-ignore lint/suspicious/noControlCharactersInRegex: a browser skips them when it reads a scheme
const hidden = /[\u0000-\u0020\u007f-\u00a0\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/u;
const hostLike = /(?:^|[^\w@.-])(?:[a-z]+:\/\/)?(?:[^\s/@]*@)?((?:[\p{L}\p{N}-]+\.)+\p{L}{2,})/iu;

/**
 * What may become a link: http, https and mailto, whole, without a user name (`https://bank.example@evil.example` reads
 * as the bank) and without characters that cannot be seen. Everything else stays text. `words` is what the link says.
 */
export function safeLink(written: string, words: string): SafeLink | undefined {
  if (written.length > longest || hidden.test(written)) return undefined;
  const url = URL.parse(written);
  if (!url || !protocols.has(url.protocol)) return undefined;
  if (url.username !== "" || url.password !== "") return undefined;
  const address = visibleText(url.href);
  if (url.protocol === "mailto:") return { href: url.href, address };
  const { hostname } = url;
  const said = hostLike.exec(words)?.[1]?.toLowerCase();
  const isOther = said !== undefined && bare(said) !== bare(hostname);
  const isDisguised = hostname.split(".").some((label) => label.startsWith("xn--"));
  return { href: url.href, address, ...((isOther || isDisguised) && { realHost: hostname }) };
}

const bare = (host: string): string => host.replace(/^www\./, "");
