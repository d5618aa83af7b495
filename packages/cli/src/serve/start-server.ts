import { defaultPort, type ListeningServer, type ListenOptions, listen, type Server } from "@capstan/server";
import { AgentError } from "capstan";
import type { Address } from "./address.ts";

const maxPortAttempts = 20;

/** Listens on exactly this port. Throws with the next step when it is taken. */
export async function listenOnPort(server: Server, address: Address): Promise<ListeningServer> {
  try {
    return await listen(server, toListenOptions(address));
  } catch (error) {
    if (!isPortTaken(error)) throw error;
    const port = address.port ?? defaultPort;
    const message = `Port ${port} is in use. Stop the other process, or choose another port with --port (0 picks a free one).`;
    throw new AgentError("invalid_definition", message, { cause: error });
  }
}

/** Listens on this port or the next free one. */
export async function listenNearPort(server: Server, address: Address): Promise<ListeningServer> {
  const first = address.port ?? defaultPort;
  for (let port = first; port < first + maxPortAttempts && port <= 65_535; port++) {
    try {
      return await listen(server, toListenOptions({ ...address, port }));
    } catch (error) {
      if (!isPortTaken(error)) throw error;
    }
  }
  return listen(server, toListenOptions({ ...address, port: 0 }));
}

function toListenOptions({ port, host }: Address): ListenOptions {
  return { ...(port !== undefined && { port }), ...(host !== undefined && { host }) };
}

function isPortTaken(error: unknown): boolean {
  const { cause } = error as { cause?: NodeJS.ErrnoException };
  return cause?.code === "EADDRINUSE";
}
