import type { Server } from "@capstan/server";
import type { ServerInstance } from "./server-instance.ts";

/** One listening server that forwards requests to the current server instance. */
export interface ReloadableServer {
  readonly server: Server;
  getCurrent(): ServerInstance;
  /** Sends new requests to the new instance. The old instance closes when it is idle. */
  replace(next: ServerInstance): void;
}

type ReplaceResponse = (request: Request, given: Response) => Response;

/** `replaceResponse` may replace any response of the server. */
export function createReloadableServer(
  first: ServerInstance,
  replaceResponse: ReplaceResponse,
): ReloadableServer {
  let current = first;
  const retiring = new Set<ServerInstance>();
  const server: Server = {
    get keys() {
      return current.server.keys;
    },
    routes: first.server.routes,
    oneTimeCode: (user) => current.server.oneTimeCode(user),
    fetch: async (request, ...rest) => replaceResponse(request, await current.server.fetch(request, ...rest)),
    async close(patienceMs) {
      await Promise.all([...retiring, current].map((generation) => generation.close(patienceMs)));
    },
  };
  async function retire(old: ServerInstance): Promise<void> {
    retiring.add(old);
    await old.whenIdle();
    // Closing the server waits for retiring instances, which have child processes to stop.
    await old.close().finally(() => retiring.delete(old));
  }
  return {
    server,
    getCurrent: () => current,
    replace(next) {
      const old = current;
      current = next;
      // The instance is no longer used, so a failed close does not matter.
      retire(old).catch(() => undefined);
    },
  };
}
