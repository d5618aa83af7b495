import { AgentError } from "capstan";
import { z } from "zod";
import { signInSeconds } from "../access/sign-ins.ts";
import { readCookie, serializeCookie } from "../http/cookie.ts";
import { defineRoute, type Route } from "./route.ts";

const secret = z.string().min(1).max(256);

/** Browsers use a cookie, which scripts cannot read, instead of a key. */
export const signInRoutes: readonly Route[] = [
  defineRoute({
    method: "POST",
    path: "/api/sign-in",
    summary: "Exchange a one-time code or a key for a cookie.",
    access: "anyone",
    body: z.union([z.strictObject({ code: secret }), z.strictObject({ key: secret })]),
    responses: { 204: { description: "Sets the cookie." } },
    async handle({ body, request }, { signIns }) {
      const token = await signIns.open(body);
      if (token === undefined) throw new AgentError("unauthorized", "Invalid or already used code or key.");
      return new Response(null, {
        status: 204,
        headers: { "set-cookie": serializeCookie(request, token, signInSeconds) },
      });
    },
  }),
  defineRoute({
    method: "POST",
    path: "/api/sign-out",
    summary: "Sign this browser out.",
    access: "anyone",
    responses: { 204: { description: "Removes the cookie and invalidates its token." } },
    async handle({ request }, { signIns }) {
      const token = readCookie(request);
      if (token !== undefined) await signIns.close(token);
      return new Response(null, { status: 204, headers: { "set-cookie": serializeCookie(request, "", 0) } });
    },
  }),
];
