import type { IncomingMessage } from "node:http";
import { type Asked, checkUrl } from "./check-url.ts";
import type { Guard } from "./guard.ts";
import { type GuardedRequest, requestAfter } from "./guarded-request.ts";
import { refusal } from "./refusal.ts";

/** A request on its way: what was asked for, and what is sent there. */
export type Hop = { readonly asked: Asked; readonly request: GuardedRequest };

/** What a request has led to. */
export type Arrived = { readonly url: URL; readonly response: IncomingMessage; readonly method: string };

/** Where to go on, already judged; nothing when this is the answer. Throws for where nobody goes. */
export function redirectOf(
  { url, response }: Arrived,
  request: GuardedRequest,
  guard: Guard,
): Hop | undefined {
  const location = locationOf(response, url);
  if (location === undefined) return undefined;
  const asked = { text: location, subject: `A redirect of ${url.hostname}`, base: url };
  const target = checkUrl(asked, guard);
  if (url.protocol === "https:" && target.protocol !== "https:")
    throw refusal("redirect", `${url.hostname} redirects from https to http, which is not followed.`);
  const after = requestAfter(request, response.statusCode ?? 0, target.origin === url.origin);
  if (!after) throw refusal("redirect", `${url.hostname} redirects what was to be sent to another origin.`);
  return { asked, request: after };
}

function locationOf({ statusCode = 0, headersDistinct }: IncomingMessage, url: URL): string | undefined {
  if (![301, 302, 303, 307, 308].includes(statusCode)) return undefined;
  const [location, ...others] = headersDistinct.location ?? [];
  if (others.length > 0)
    throw refusal("redirect", `${url.hostname} redirects to several places at once, which is not followed.`);
  // Headers are read byte by byte; servers write what is not ASCII in UTF-8.
  return location === undefined ? undefined : Buffer.from(location, "latin1").toString("utf8");
}
