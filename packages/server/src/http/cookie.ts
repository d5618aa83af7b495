/** The token that a request brings as its cookie; undefined without one, and when there are several. */
export function cookieOf(request: Request): string | undefined {
  const all = (request.headers.get("cookie") ?? "").split(";").map((cookie) => cookie.trim());
  const known = isHttps(request) ? [name(request, true)] : [name(request, true), name(request, false)];
  const found = known.flatMap((one) => all.filter((cookie) => cookie.startsWith(`${one}=`)));
  return found.length === 1 ? found[0]?.slice(found[0].indexOf("=") + 1) : undefined;
}

/** The header that sets the cookie for so many seconds; for none it takes it away, with the same attributes. */
export function setCookie(request: Request, token: string, seconds: number): string {
  const isSecure = isHttps(request) || isBehindHttps(request);
  const attributes = ["HttpOnly", "SameSite=Strict", "Path=/", `Max-Age=${seconds}`];
  if (isSecure) attributes.push("Secure");
  return [`${name(request, isSecure)}=${token}`, ...attributes].join("; ");
}

/** Cookies are shared by all ports of a host, so the port is in the name: two servers on one machine stay apart. */
function name(request: Request, isSecure: boolean): string {
  const { port } = new URL(request.url);
  return isSecure ? `__Host-capstan-${port || 443}` : `capstan-${port || 80}`;
}

function isHttps(request: Request): boolean {
  return new URL(request.url).protocol === "https:";
}

/** A proxy speaks https to the browser and http to us: then the page says that its own origin, under our name, is https. */
function isBehindHttps({ url, headers }: Request): boolean {
  return headers.get("origin") === `https://${new URL(url).host}`;
}
