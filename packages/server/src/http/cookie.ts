// Hand-written instead of `hono/cookie`, whose parser keeps one of two cookies with the same name: such a request must be
// refused, because a page on a sibling host may have planted one of them. Its serializer orders the attributes differently.

/** Returns the sign-in token, undefined without exactly one cookie. */
export function readCookie(request: Request): string | undefined {
  const all = (request.headers.get("cookie") ?? "").split(";").map((cookie) => cookie.trim());
  const known = isHttps(request)
    ? [getCookieName(request, true)]
    : [getCookieName(request, true), getCookieName(request, false)];
  const found = known.flatMap((one) => all.filter((cookie) => cookie.startsWith(`${one}=`)));
  return found.length === 1 ? found[0]?.slice(found[0].indexOf("=") + 1) : undefined;
}

/** Serializes the `Set-Cookie` header. With 0 seconds it removes the cookie. */
export function serializeCookie(request: Request, token: string, seconds: number): string {
  const isSecure = isHttps(request) || isBehindHttps(request);
  const attributes = ["HttpOnly", "SameSite=Strict", "Path=/", `Max-Age=${seconds}`];
  if (isSecure) attributes.push("Secure");
  return [`${getCookieName(request, isSecure)}=${token}`, ...attributes].join("; ");
}

/** Cookies are shared by all ports of a host, so the name contains the port to separate servers on one machine. */
function getCookieName(request: Request, isSecure: boolean): string {
  const { port } = new URL(request.url);
  return isSecure ? `__Host-capstan-${port || 443}` : `capstan-${port || 80}`;
}

function isHttps(request: Request): boolean {
  return new URL(request.url).protocol === "https:";
}

/** Behind a TLS-terminating proxy the request is http, while the page's origin has our host with https. */
function isBehindHttps({ url, headers }: Request): boolean {
  return headers.get("origin") === `https://${new URL(url).host}`;
}
