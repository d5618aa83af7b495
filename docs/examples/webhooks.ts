// A help desk posts a signed webhook, an agent answers it, and the answer is posted back, signed as well.
import { createHmac } from "node:crypto";
import { createServer as createHttpServer } from "node:http";
import { createServer, listen } from "@capstan/server";
import { defineAgent } from "capstan";
import { scriptedModel } from "capstan/testing";

const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"; // process.env.DESK_SECRET in your code

/** Signs as Standard Webhooks says: the id, the time and the body. */
function sign(id: string, timestamp: string, body: string): string {
  const key = Buffer.from(secret.slice("whsec_".length), "base64");
  return `v1,${createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64")}`;
}

// The help desk, which takes the answer.
const answered = Promise.withResolvers<string>();
const desk = createHttpServer(async (request, response) => {
  const body = (await request.toArray()).join("");
  const {
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": signature,
  } = request.headers;
  const isOurs = signature === sign(String(id), String(timestamp), body); // compare in constant time in your code
  response.writeHead(isOurs ? 204 : 401).end();
  const { type, data } = JSON.parse(body);
  answered.resolve(`${type}: ${data.status}, "${data.text}"`);
});
await new Promise<void>((resolve) => desk.listen(0, "127.0.0.1", resolve));
const { port }: { port: number } = Object(desk.address());

const model = scriptedModel(() => ({ text: "Switch it off, then call the fire brigade." }));
const server = createServer({
  agents: [defineAgent({ name: "clerk", model, instructions: "You answer tickets." })],
  webhooks: {
    tickets: {
      provider: "generic", // or "github", "slack"
      secret,
      agent: "clerk",
      reply: {
        url: `http://127.0.0.1:${port}/answers`,
        secret,
        guard: { allowHttp: true, allowPrivate: true, ports: [port] }, // by default only public https addresses
      },
    },
  },
});
const listening = await listen(server, { port: 0 });

// The same delivery twice, as senders do when they have missed the response.
const body = JSON.stringify({ type: "ticket.created", data: { title: "The printer is on fire" } });
for (const attempt of [1, 2]) {
  const timestamp = String(Math.floor(Date.now() / 1000));
  const headers = {
    "content-type": "application/json",
    "webhook-id": "msg_2KWPBgLlAfxdpx2AI54pPJ85f4W",
    "webhook-timestamp": timestamp,
    "webhook-signature": sign("msg_2KWPBgLlAfxdpx2AI54pPJ85f4W", timestamp, body),
  };
  const response = await fetch(`${listening.url}/webhooks/tickets`, { method: "POST", headers, body });
  const { runId } = await response.json();
  console.log(`attempt ${attempt}: ${response.status}, ${runId.slice(0, 12)}…`);
}
const forged = await fetch(`${listening.url}/webhooks/tickets`, {
  method: "POST",
  headers: { "content-type": "application/json" },
  body,
});
console.log(`forged: ${forged.status}`);
console.log(await answered.promise);

await listening.close();
desk.close();
