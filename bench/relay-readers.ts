// The readers of relay.ts, in their own process. Prints how many characters of text each of them received.
import { get, type IncomingMessage, request } from "node:http";
import type { RelayOrder } from "./relay.ts";

const order: RelayOrder & { readonly port: number; readonly kind: "bare" | "capstan" } = JSON.parse(
  process.argv[2] ?? "",
);
const origin = { host: "127.0.0.1", port: order.port, agent: false as const };

async function readText(response: IncomingMessage): Promise<string> {
  let text = "";
  response.setEncoding("utf8");
  for await (const chunk of response) text += chunk;
  return text;
}

function startRun(): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const headers = { "content-type": "application/json" };
  const started = request({ ...origin, method: "POST", path: "/api/runs", headers }, (response) => {
    readText(response).then((body) => resolve(JSON.parse(body).runId), reject);
  });
  started.on("error", reject).end(JSON.stringify({ input: "Go" }));
  return promise;
}

type Data = {
  readonly delta?: string;
  readonly entry?: { readonly parts: readonly { readonly type: string; readonly text?: string }[] };
};

/** Returns the number of characters of a text: of its pieces, or of the message, if a slow reader missed pieces. */
function measureText(frames: string): number {
  const count = (event: string, getText: (data: Data) => string) =>
    [...frames.matchAll(new RegExp(`^event: ${event}\\ndata: (.*)$`, "gm"))].reduce(
      (sum, [, data = ""]) => sum + getText(JSON.parse(data)).length,
      0,
    );
  const pieces = count("content_delta", ({ delta = "" }) => delta);
  return Math.max(
    pieces,
    count("message", ({ entry }) => entry?.parts.map(({ text }) => text).join("") ?? ""),
  );
}

function readStream(path: string): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  get({ ...origin, path }, (response) => {
    readText(response).then((frames) => resolve(measureText(frames)), reject);
  }).on("error", reject);
  return promise;
}

async function readRun(index: number): Promise<readonly number[]> {
  const barePath = order.readers === 1 ? "/piped" : `/events/${process.pid}-${index}/${order.readers}`;
  const path = order.kind === "bare" ? barePath : `/api/runs/${await startRun()}/events`;
  return Promise.all(Array.from({ length: order.readers }, () => readStream(path)));
}

const lengths = await Promise.all(Array.from({ length: order.runs }, (_, index) => readRun(index)));
process.stdout.write(JSON.stringify(lengths.flat()), () => process.exit(0));
