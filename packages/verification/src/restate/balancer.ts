import { connect as connectHttp2 } from "node:http2";
import { connect, createServer, type Socket } from "node:net";

/** A balancer that checks the health of the servers behind it, for HTTP/1 and HTTP/2. */
export type Balancer = {
  readonly url: string;
  /** Resolves when the first server is added. */
  readonly whenAdded: Promise<void>;
  add(port: number): void;
  remove(port: number): void;
  close(): Promise<void>;
};

export type BalancerOptions = {
  /** Whether the server at this port answers. Default: it answers HTTP/2 requests for /health. */
  readonly isHealthy?: (port: number) => Promise<boolean>;
};

type Backend = { isHealthy: boolean; isChecking: boolean; readonly sockets: Set<Socket> };

const checkEveryMs = 250;
const answerTimeoutMs = 1_000;

/** Forwards each new connection to the next healthy server, and cuts the connections of one that stops answering. */
export async function startBalancer({ isHealthy = answersHttp2 }: BalancerOptions = {}): Promise<Balancer> {
  const backends = new Map<number, Backend>();
  const clients = new Set<Socket>();
  const added = Promise.withResolvers<void>();
  let next = 0;

  async function check(port: number, backend: Backend): Promise<void> {
    if (backend.isChecking) return;
    backend.isChecking = true;
    backend.isHealthy = await isHealthy(port);
    backend.isChecking = false;
    if (!backend.isHealthy) for (const socket of backend.sockets) socket.destroy();
  }

  function forward(client: Socket): void {
    const healthy = [...backends].filter(([, backend]) => backend.isHealthy);
    next += 1;
    const [port, backend] = healthy[next % healthy.length] ?? [];
    if (port === undefined || !backend) return void client.destroy();
    const upstream = connect(port, "127.0.0.1");
    backend.sockets.add(upstream);
    const end = () => {
      backend.sockets.delete(upstream);
      client.destroy();
      upstream.destroy();
    };
    for (const socket of [client, upstream]) socket.on("error", end).on("close", end).setNoDelay(true);
    client.pipe(upstream).pipe(client);
  }

  const server = createServer((client) => {
    clients.add(client);
    client.once("close", () => clients.delete(client));
    forward(client);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const timer = setInterval(() => {
    for (const [port, backend] of backends) void check(port, backend);
  }, checkEveryMs);
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === "object" && address ? address.port : 0}`,
    whenAdded: added.promise,
    add(port) {
      backends.set(port, { isHealthy: true, isChecking: false, sockets: new Set() });
      added.resolve();
    },
    remove(port) {
      for (const socket of backends.get(port)?.sockets ?? []) socket.destroy();
      backends.delete(port);
    },
    async close() {
      clearInterval(timer);
      const closed = new Promise((resolve) => server.close(resolve));
      for (const client of clients) client.destroy();
      await closed;
    },
  };
}

function answersHttp2(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const session = connectHttp2(`http://127.0.0.1:${port}`);
    const settle = (isHealthy: boolean) => {
      resolve(isHealthy);
      session.destroy();
    };
    session.on("error", () => settle(false));
    session.setTimeout(answerTimeoutMs, () => settle(false));
    const request = session.request({ ":path": "/health" });
    request.on("response", () => settle(true)).on("error", () => settle(false));
  });
}

/** Whether the server at this port answers HTTP/1 requests for the path. */
export async function answersHttp(port: number, path: string): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(answerTimeoutMs);
    return (await fetch(`http://127.0.0.1:${port}${path}`, { signal })).ok;
  } catch {
    return false;
  }
}
