import { type McpService, type ServeMcpOptions, serveMcp } from "@capstan/mcp";
import type { Caller } from "../access/caller.ts";
import type { Deployment } from "../deployment.ts";
import { hideResultErrors } from "./hide-errors.ts";

/** The MCP server of a deployment. */
export interface MountedMcp {
  handle(request: Request, caller: Caller): Promise<Response>;
  close(): Promise<void>;
}

export type MountMcpOptions = Pick<Deployment, "policy" | "quotaAdmission" | "quota"> &
  Pick<
    ServeMcpOptions,
    "agents" | "store" | "secrets" | "widgets" | "onEvent" | "onBeforeModel" | "onError" | "onRunError"
  > & {
    context(run: { readonly user: string; readonly sessionId: string }): unknown;
  };

/**
 * Serves agents over MCP. MCP conversations are sessions of their user, with the same lists and quotas. The caller
 * and the origin were checked before.
 */
export function mountMcp({
  policy,
  quotaAdmission,
  quota,
  context,
  ...options
}: MountMcpOptions): MountedMcp {
  const callers = new Map<string, Caller>();
  const buildSessionPrefix = (user = "") => (user ? `${user}~mcp_` : "mcp_");
  const service: McpService = serveMcp({
    ...options,
    allowedHosts: "any",
    allowedOrigins: "any",
    sessionPrefix: buildSessionPrefix,
    context: ({ user = "", sessionId }) => context({ user, sessionId: buildSessionPrefix(user) + sessionId }),
    async policy(user = "", run) {
      const caller = callers.get(user);
      if (!caller) return policy ?? {};
      return (await quotaAdmission.admit(caller, { ...run, policy: policy ?? {} })).policy;
    },
    filterResult: (result, user = "") => (callers.get(user)?.isAdmin ? result : hideResultErrors(result)),
  });
  return {
    async handle(request, caller) {
      const { scope: user } = caller;
      callers.set(user, caller);
      const release = quota.acquire(caller, "streams");
      try {
        return releaseAfterRead(await service.fetch(request, { user }), release);
      } catch (thrown) {
        release();
        throw thrown;
      }
    },
    close: () => service.close(),
  };
}

/** Calls `release` when the body was read or cancelled. */
function releaseAfterRead(response: Response, release: () => void): Response {
  if (!response.body) {
    release();
    return response;
  }
  const reader = response.body.getReader();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (!done) return controller.enqueue(value);
        release();
        controller.close();
      } catch (thrown) {
        release();
        controller.error(thrown);
      }
    },
    async cancel(reason) {
      release();
      await reader.cancel(reason);
    },
  });
  return new Response(body, response);
}
