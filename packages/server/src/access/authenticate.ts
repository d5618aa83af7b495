import { AgentError } from "capstan";
import { readCookie } from "../http/cookie.ts";
import type { ApiKeys } from "./api-keys.ts";
import { type Caller, defaultLimits, type UserLimits } from "./caller.ts";
import type { SignedInUser, SignIns } from "./sign-ins.ts";

/** Returns the caller of a request. Throws `unauthorized`. */
export type Authenticator = (request: Request) => Promise<Caller>;

type AuthenticatorOptions = {
  readonly keys: ApiKeys;
  readonly signIns: SignIns;
  readonly limits?: Partial<UserLimits> | undefined;
};

/** Authenticates by key (`Authorization` or, from Anthropic's clients, `x-api-key`) or sign-in cookie. While no key exists, every caller is the local user. */
export function createAuthenticator({ keys, signIns, limits }: AuthenticatorOptions): Authenticator {
  const local: Caller = { user: "", scope: "", isAdmin: true, limits: { ...defaultLimits, ...limits } };

  function verifyCredentials(request: Request): Promise<SignedInUser | undefined> {
    const authorization = request.headers.get("authorization");
    if (authorization !== null) return keys.check(/^Bearer (\S+)$/i.exec(authorization)?.[1] ?? "");
    const key = request.headers.get("x-api-key");
    if (key !== null) return keys.check(key);
    const token = readCookie(request);
    return token === undefined ? Promise.resolve(undefined) : signIns.check(token);
  }

  return async (request) => {
    if (!(await keys.areNeeded())) return local;
    const found = await verifyCredentials(request);
    if (!found)
      throw new AgentError("unauthorized", "Authentication required. Send `Authorization: Bearer <key>`.");
    const { user, isAdmin } = found;
    return { user, scope: user, isAdmin, limits: { ...local.limits, ...found.limits } };
  };
}
