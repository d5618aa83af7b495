import type { Server } from "@capstan/server";
import type { ServerInstance } from "./server-instance.ts";

/** One server to listen with, whichever generation answers at the time. */
export interface ReloadableServer {
  readonly server: Server;
  getCurrent(): ServerInstance;
  /** Requests go to the new one from now on. The old one is closed when it has nothing under way any more. */
  replace(next: ServerInstance): void;
}

type ReplaceResponse = (request: Request, given: Response) => Response;

/** `answer` may put its own in place of what the server answers. */
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
    // Whoever closes the front meanwhile waits for it: it has processes of its own to end.
    await old.close().finally(() => retiring.delete(old));
  }
  return {
    server,
    getCurrent: () => current,
    replace(next) {
      const old = current;
      current = next;
      // What cannot be closed is of no use to anybody any more.
      retire(old).catch(() => undefined);
    },
  };
}
