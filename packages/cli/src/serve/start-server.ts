import { defaultPort, type ListeningServer, type ListenOptions, listen, type Server } from "@capstan/server";
import { AgentError } from "capstan";
import type { Address } from "./address.ts";

const maxPortAttempts = 20;

/** Listens there and nowhere else. What is in the way is told with the next step. */
export async function listenOnPort(server: Server, address: Address): Promise<ListeningServer> {
  try {
    return await listen(server, toListenOptions(address));
  } catch (error) {
    if (!isPortTaken(error)) throw error;
    const port = address.port ?? defaultPort;
    const message = `The port ${port} is in use: stop what listens there, or choose another one with --port (0 takes one that is free).`;
    throw new AgentError("invalid_definition", message, { cause: error });
  }
}

/** Listens there, or on the next port that is free. */
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
