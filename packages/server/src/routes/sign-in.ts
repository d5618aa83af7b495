import { AgentError } from "capstan";
import { z } from "zod";
import { signedInSeconds } from "../access/sign-ins.ts";
import { cookieOf, setCookie } from "../http/cookie.ts";
import { defineRoute, type Route } from "./route.ts";

const secret = z.string().min(1).max(256);

/** For pages: a key would be in reach of every script there, a cookie is not. */
export const signInRoutes: readonly Route[] = [
  defineRoute({
    method: "POST",
    path: "/api/sign-in",
    summary: "Exchange a one-time code or a key for a cookie.",
    access: "anyone",
    body: z.union([z.strictObject({ code: secret }), z.strictObject({ key: secret })]),
    answers: { 204: { description: "With the cookie." } },
    async handle({ body, request }, { signIns }) {
      const token = await signIns.open(body);
      if (token === undefined)
        throw new AgentError("unauthorized", "This code or key is not good, or was used before.");
      return new Response(null, {
        status: 204,
        headers: { "set-cookie": setCookie(request, token, signedInSeconds) },
      });
    },
  }),
  defineRoute({
    method: "POST",
    path: "/api/sign-out",
    summary: "Forget that this browser has signed in.",
    access: "anyone",
    answers: { 204: { description: "The cookie is taken away, and good for nothing." } },
    async handle({ request }, { signIns }) {
      const token = cookieOf(request);
      if (token !== undefined) await signIns.close(token);
      return new Response(null, { status: 204, headers: { "set-cookie": setCookie(request, "", 0) } });
    },
  }),
];
