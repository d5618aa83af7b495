import { connect, createServer, type Socket } from "node:net";

/** A proxy that can cut its connections at a given chunk. */
export type CuttingProxy = {
  readonly port: number;
  /** Cuts every connection at the n-th chunk, in either direction, before or after forwarding it. */
  cutAt(piece: number, when: "before" | "behind"): void;
  /** Forwards nothing in either direction, without closing a connection, as a network that loses all packets. */
  hold(): void;
  /** Forwards what was held, and everything that follows. */
  heal(): void;
  close(): Promise<void>;
};

/** Starts a proxy in front of a local server, to simulate network failures. */
export async function createCuttingProxy(target: number): Promise<CuttingProxy> {
  const sockets = new Set<Socket>();
  let remainingChunks = Number.POSITIVE_INFINITY;
  let when: "before" | "behind" = "before";
  let isHeld = false;

  function cutAll(): void {
    for (const socket of sockets) socket.destroy();
  }

  function forward(from: Socket, to: Socket): void {
    from.on("data", (data) => {
      remainingChunks -= 1;
      if (remainingChunks !== 0) return void to.write(data);
      if (when === "before") return cutAll();
      to.write(data, () => setTimeout(cutAll, 5)); // the chunk arrived, but its response did not
      from.pause();
      to.pause();
    });
    from.on("close", () => {
      sockets.delete(from);
      to.destroy();
    });
    from.on("error", () => to.destroy());
    sockets.add(from);
    if (isHeld) from.pause();
  }

  const server = createServer((client) => {
    const upstream = connect(target, "127.0.0.1");
    forward(client, upstream);
    forward(upstream, client);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  return {
    port: typeof address === "object" && address ? address.port : 0,
    cutAt(piece, place) {
      remainingChunks = piece;
      when = place;
    },
    hold() {
      isHeld = true;
      for (const socket of sockets) socket.pause();
    },
    heal() {
      isHeld = false;
      for (const socket of sockets) socket.resume();
    },
    async close() {
      cutAll();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
