import { type McpService, type ServeMcpOptions, serveMcp } from "@capstan/mcp";
import type { Caller } from "../access/caller.ts";
import type { Deployment } from "../deployment.ts";

/** Agents for MCP clients, as a part of a server. */
export interface MountedMcp {
  answer(request: Request, caller: Caller): Promise<Response>;
  close(): Promise<void>;
}

export type MountedMcpOptions = Pick<Deployment, "policy" | "spending" | "allowance"> &
  Pick<ServeMcpOptions, "agents" | "store" | "secrets" | "onEvent" | "onError"> & {
    context(run: { readonly user: string; readonly sessionId: string }): unknown;
  };

/**
 * Conversations over MCP are sessions of their user like all others: found in the same lists, and counted in the same way.
 * Who asks, and from where, has been checked before.
 */
export function mountedMcp({
  policy,
  spending,
  allowance,
  context,
  ...options
}: MountedMcpOptions): MountedMcp {
  const callers = new Map<string, Caller>();
  const sessionPrefix = (user = "") => (user ? `${user}~mcp_` : "mcp_");
  const service: McpService = serveMcp({
    ...options,
    allowedHosts: "any",
    allowedOrigins: "any",
    sessionPrefix,
    context: ({ user = "", sessionId }) => context({ user, sessionId: sessionPrefix(user) + sessionId }),
    async policy(user = "") {
      const caller = callers.get(user);
      return caller ? spending.within(caller, policy ?? {}) : (policy ?? {});
    },
  });
  return {
    async answer(request, caller) {
      const { scope: user } = caller;
      callers.set(user, caller);
      const release = allowance.take(caller, "streams");
      try {
        return heldUntilRead(await service.fetch(request, { user }), release);
      } catch (thrown) {
        release();
        throw thrown;
      }
    },
    close: () => service.close(),
  };
}

/** Counts until the last byte is read, or until nobody reads any more. */
function heldUntilRead(response: Response, release: () => void): Response {
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
