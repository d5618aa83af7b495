import {
  type ClientRequest,
  createServer,
  get,
  type IncomingMessage,
  request,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";

/** Passes requests to the servers that are ready, one after the other. Cuts the requests of one that stops answering. */
export interface Balancer {
  readonly url: string;
  /** Whether the server of this port is ready, as of the last check. */
  isReady(port: number): boolean;
  close(): Promise<void>;
}

const checkMs = 20;
const answerTimeoutMs = 1_000;

/** Starts a balancer in front of local ports. A server that restarts keeps its port. */
export async function startBalancer(ports: readonly number[]): Promise<Balancer> {
  const ready = new Set<number>();
  const active = new Map(ports.map((port) => [port, new Set<ClientRequest>()]));
  let isClosed = false;
  let requests = 0;

  async function watchReadiness(port: number): Promise<void> {
    while (!isClosed) {
      const readiness = await checkReadiness(port);
      if (readiness === "ready") ready.add(port);
      else ready.delete(port);
      if (readiness === "silent") for (const forwarded of active.get(port) ?? []) forwarded.destroy();
      await new Promise((resolve) => setTimeout(resolve, checkMs));
    }
  }
  function pass(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const targets = ports.filter((port) => ready.has(port));
    const port = targets[requests++ % targets.length];
    if (port === undefined) return void outgoing.writeHead(503, { "retry-after": "1" }).end();
    const { method, url: path, headers } = incoming;
    const forwarded = request({ host: "127.0.0.1", port, method, path, headers, agent: false });
    active.get(port)?.add(forwarded);
    forwarded.on("close", () => active.get(port)?.delete(forwarded));
    forwarded.on("response", (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.on("error", () => outgoing.destroy()).pipe(outgoing);
    });
    forwarded.on("error", () => {
      if (outgoing.headersSent) outgoing.destroy();
      else outgoing.writeHead(503, { "retry-after": "1" }).end();
    });
    outgoing.on("close", () => forwarded.destroy());
    incoming.pipe(forwarded);
  }

  const checks = ports.map(watchReadiness);
  const server = createServer(pass);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    isReady: (port) => ready.has(port),
    async close() {
      isClosed = true;
      server.close().closeAllConnections();
      await Promise.all(checks);
    },
  };
}

/** `busy`: it answers, but takes no new requests. */
function checkReadiness(port: number): Promise<"ready" | "busy" | "silent"> {
  return new Promise((resolve) => {
    const check = get({ host: "127.0.0.1", port, path: "/readyz", agent: false }, (answer) => {
      answer.resume().on("end", () => resolve(answer.statusCode === 200 ? "ready" : "busy"));
      answer.on("error", () => resolve("silent"));
    });
    check.setTimeout(answerTimeoutMs, () => check.destroy(new Error("no answer")));
    check.on("error", () => resolve("silent"));
  });
}
