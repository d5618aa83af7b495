import type { IncomingMessage } from "node:http";
import { checkUrl, type UrlRequest } from "./check-url.ts";
import type { Guard } from "./guard.ts";
import { createGuardRefusal } from "./guard-errors.ts";
import { buildRedirectRequest, type GuardedRequest } from "./guarded-request.ts";

/** One request of a redirect chain. */
export type Hop = { readonly target: UrlRequest; readonly request: GuardedRequest };

export type HopResponse = { readonly url: URL; readonly response: IncomingMessage; readonly method: string };

/** Returns the next hop, already checked, or undefined for a final response. Throws for redirects that are not followed. */
export function findRedirect(
  { url, response }: HopResponse,
  request: GuardedRequest,
  guard: Guard,
): Hop | undefined {
  const location = getLocation(response, url);
  if (location === undefined) return undefined;
  const redirectUrl = { text: location, subject: `A redirect of ${url.hostname}`, base: url };
  const target = checkUrl(redirectUrl, guard);
  if (url.protocol === "https:" && target.protocol !== "https:")
    throw createGuardRefusal(
      "redirect",
      `${url.hostname} redirects from https to http, which is not allowed.`,
    );
  const nextRequest = buildRedirectRequest(request, response.statusCode ?? 0, target.origin === url.origin);
  if (!nextRequest)
    throw createGuardRefusal(
      "redirect",
      `${url.hostname} redirects a request with a body to another origin.`,
    );
  return { target: redirectUrl, request: nextRequest };
}

function getLocation({ statusCode = 0, headersDistinct }: IncomingMessage, url: URL): string | undefined {
  if (![301, 302, 303, 307, 308].includes(statusCode)) return undefined;
  const [location, ...others] = headersDistinct.location ?? [];
  if (others.length > 0)
    throw createGuardRefusal("redirect", `${url.hostname} sent several Location headers.`);
  // Node reads headers as latin1; servers send non-ASCII characters as UTF-8.
  return location === undefined ? undefined : Buffer.from(location, "latin1").toString("utf8");
}
