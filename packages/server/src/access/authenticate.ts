import { AgentError } from "capstan";
import { cookieOf } from "../http/cookie.ts";
import type { ApiKeys } from "./api-keys.ts";
import { type Caller, defaultLimits, type UserLimits } from "./caller.ts";
import type { SignedIn, SignIns } from "./sign-ins.ts";

/** Who a request is from. Throws `unauthorized`. */
export type Authenticate = (request: Request) => Promise<Caller>;

type Ways = {
  readonly keys: ApiKeys;
  readonly signIns: SignIns;
  readonly limits?: Partial<UserLimits> | undefined;
};

/**
 * By the key that a request brings, or the cookie of a browser that has signed in. While no key was ever set, there is one
 * local user, who needs none.
 */
export function authenticate({ keys, signIns, limits }: Ways): Authenticate {
  const local: Caller = { user: "", scope: "", isAdmin: true, limits: { ...defaultLimits, ...limits } };

  function proven(request: Request): Promise<SignedIn | undefined> {
    const authorization = request.headers.get("authorization");
    if (authorization !== null) return keys.check(/^Bearer (\S+)$/i.exec(authorization)?.[1] ?? "");
    const token = cookieOf(request);
    return token === undefined ? Promise.resolve(undefined) : signIns.check(token);
  }

  return async (request) => {
    if (!(await keys.areNeeded())) return local;
    const found = await proven(request);
    if (!found) throw new AgentError("unauthorized", "Send a key: `Authorization: Bearer <key>`.");
    const { user, isAdmin } = found;
    return { user, scope: user, isAdmin, limits: { ...local.limits, ...found.limits } };
  };
}
