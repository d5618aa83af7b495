import { createServer } from "node:net";
import { defaultPort, type ListeningServer, type ListenOptions, listen, type Server } from "@capstan/server";
import { AgentError } from "capstan";
import type { Address } from "./address.ts";

const maxPortAttempts = 20;

/** Listens on exactly this port. Throws with the next step when it is taken. */
export async function listenOnPort(server: Server, address: Address): Promise<ListeningServer> {
  const { healthPort } = address;
  try {
    return await listen(server, {
      ...toListenOptions(address),
      ...(healthPort !== undefined && { healthPort }),
    });
  } catch (error) {
    const { cause } = error as { cause?: NodeJS.ErrnoException & { readonly port?: number } };
    throw isPortTaken(cause)
      ? createTakenError({ ...address, port: cause?.port ?? address.port }, cause)
      : error;
  }
}

/** Throws when the port is taken, by listening on it briefly. Other problems are left to `listenOnPort`. */
export async function assertPortFree({ port = defaultPort, host = "127.0.0.1" }: Address): Promise<void> {
  const failure = await new Promise<unknown>((resolve) => {
    const probe = createServer().once("error", resolve);
    probe.listen({ port, host }, () => probe.close(() => resolve(undefined)));
  });
  if (isPortTaken(failure)) throw createTakenError({ port, host }, failure);
}

function createTakenError({ port = defaultPort }: Address, cause: unknown): AgentError {
  const message = `Port ${port} is in use. Stop the other process, or choose another port with --port (0 picks a free one).`;
  return new AgentError("invalid_definition", message, { cause });
}

/** Listens on this port or the next free one. */
export async function listenNearPort(server: Server, address: Address): Promise<ListeningServer> {
  const first = address.port ?? defaultPort;
  for (let port = first; port < first + maxPortAttempts && port <= 65_535; port++) {
    try {
      return await listen(server, toListenOptions({ ...address, port }));
    } catch (error) {
      if (!isPortTaken((error as { cause?: unknown }).cause)) throw error;
    }
  }
  return listen(server, toListenOptions({ ...address, port: 0 }));
}

function toListenOptions({ port, host }: Address): ListenOptions {
  return { ...(port !== undefined && { port }), ...(host !== undefined && { host }) };
}

function isPortTaken(failure: unknown): boolean {
  return (failure as NodeJS.ErrnoException | undefined)?.code === "EADDRINUSE";
}
