import { connect, createServer, type Socket } from "node:net";

/** A proxy that cuts connections when it is told to. */
export type CuttingProxy = {
  readonly port: number;
  /** Cuts every connection at the n-th piece of data that passes from now on, in either direction; before it, or behind it. */
  cutAt(piece: number, when: "before" | "behind"): void;
  close(): Promise<void>;
};

/** Stands between a client and a server on this machine, as a network that fails would. */
export async function cuttingProxy(target: number): Promise<CuttingProxy> {
  const sockets = new Set<Socket>();
  let left = Number.POSITIVE_INFINITY;
  let when: "before" | "behind" = "before";

  function cut(): void {
    for (const socket of sockets) socket.destroy();
  }

  function pass(from: Socket, to: Socket): void {
    from.on("data", (data) => {
      left -= 1;
      if (left !== 0) return void to.write(data);
      if (when === "before") return cut();
      to.write(data, () => setTimeout(cut, 5)); // it has arrived, and the answer to it has not
      from.pause();
      to.pause();
    });
    from.on("close", () => to.destroy());
    from.on("error", () => to.destroy());
    sockets.add(from);
  }

  const server = createServer((client) => {
    const upstream = connect(target, "127.0.0.1");
    pass(client, upstream);
    pass(upstream, client);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  return {
    port: typeof address === "object" && address ? address.port : 0,
    cutAt(piece, place) {
      left = piece;
      when = place;
    },
    async close() {
      cut();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
