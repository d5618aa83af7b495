import { connect, type Socket } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { createServer, type ServerOptions } from "./create-server.ts";
import { type ListeningServer, listen } from "./listen.ts";
import { createHelloAgent } from "./testing/hello-agent.ts";

const webhooks: NonNullable<ServerOptions["webhooks"]> = {
  tickets: { provider: "generic", secret: `whsec_${Buffer.alloc(32, 7).toString("base64")}` },
};

async function serve() {
  // A slow machine must not refuse work for another reason.
  const load = { maxDelayMs: Number.POSITIVE_INFINITY };
  const server = createServer({ agents: [createHelloAgent()], webhooks, load, memoryInUse: () => 0 });
  const listening = await listen(server, { port: 0 });
  onTestFinished(() => listening.close(0));
  const createKey = async (user: string) => `Bearer ${(await server.keys.create({ user })).secret}`;
  return { listening, createKey };
}

/** Opens connections whose requests have no end. Returns the status of each one that is answered. */
async function sendUnfinished(
  { port }: ListeningServer,
  {
    count,
    path,
    headers,
  }: { readonly count: number; readonly path: string; readonly headers: readonly string[] },
): Promise<{ readonly statuses: string[]; readonly sockets: Socket[] }> {
  const sockets: Socket[] = [];
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
  });
  const statuses: string[] = [];
  const common = [`Host: 127.0.0.1:${port}`, "Content-Type: application/json", "Content-Length: 1000"];
  const head = [`POST ${path} HTTP/1.1`, ...common, ...headers].join("\r\n");
  for (let opened = 0; opened < count; opened += 100)
    await Promise.all(
      Array.from({ length: 100 }, () => {
        const connected = Promise.withResolvers<void>();
        const socket = connect(port, "127.0.0.1", () => {
          socket.write(`${head}\r\n\r\n{"input":`, () => connected.resolve());
        });
        socket.on("data", (data) => statuses.push(data.toString().split(" ")[1] ?? ""));
        socket.on("error", connected.reject);
        sockets.push(socket);
        return connected.promise;
      }),
    );
  return { statuses, sockets };
}

async function startRun({ url }: ListeningServer, authorization: string): Promise<number> {
  const headers = { "content-type": "application/json", authorization };
  const response = await fetch(`${url}/api/runs`, { method: "POST", headers, body: '{"input":"Hi"}' });
  await response.body?.cancel();
  return response.status;
}

it("2,100 unfinished requests of one user refuse that user, and nobody else", async () => {
  const { listening, createKey } = await serve();
  const [ada, bob] = [await createKey("ada"), await createKey("bob")];
  const headers = [`Authorization: ${ada}`];
  const { statuses } = await sendUnfinished(listening, { count: 2100, path: "/api/runs", headers });
  await expect.poll(() => statuses.length, { timeout: 30_000 }).toBe(1850);
  expect(new Set(statuses)).toEqual(new Set(["429"]));
  expect(await startRun(listening, ada)).toBe(429);
  for (let count = 0; count < 5; count++) expect(await startRun(listening, bob)).toBe(201);
});

it("2,100 unfinished requests without a key refuse no user with one", async () => {
  const { listening, createKey } = await serve();
  const ada = await createKey("ada");
  const seconds = Math.floor(Date.now() / 1000);
  const headers = ["webhook-id: 1", `webhook-timestamp: ${seconds}`, "webhook-signature: v1,AAAA"];
  const path = "/webhooks/tickets";
  const { statuses } = await sendUnfinished(listening, { count: 2100, path, headers });
  await expect.poll(() => statuses.length, { timeout: 30_000 }).toBe(1850);
  expect(await startRun(listening, ada)).toBe(201);
});

it("a user whose unfinished requests end is served again", async () => {
  const { listening, createKey } = await serve();
  const ada = await createKey("ada");
  const headers = [`Authorization: ${ada}`];
  const unfinished = await sendUnfinished(listening, { count: 300, path: "/api/runs", headers });
  await expect.poll(() => unfinished.statuses.length, { timeout: 30_000 }).toBe(50);
  expect(await startRun(listening, ada)).toBe(429);
  for (const socket of unfinished.sockets) socket.destroy();
  await expect.poll(() => startRun(listening, ada), { timeout: 30_000 }).toBe(201);
});
