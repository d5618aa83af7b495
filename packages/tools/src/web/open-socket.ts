import { isIP, type Socket } from "node:net";
import { connect as connectByTls, getCACertificates } from "node:tls";
import { isSameAddress } from "./addresses.ts";
import { portOf } from "./check-url.ts";
import type { Guard } from "./guard.ts";
import { bareHost } from "./names.ts";
import { refusal } from "./refusal.ts";

/** How long one of several addresses may take. */
const patienceMs = 5000;
const mostAddresses = 4;

/** Where to connect: `addresses` were checked, and one of them it will be. */
export type Target = { readonly url: URL; readonly addresses: readonly string[] };

/** A connection to one of the addresses, with TLS for https. The name is kept for its certificate. */
export async function openSocket(
  { url, addresses }: Target,
  guard: Guard,
  signal: AbortSignal,
): Promise<Socket> {
  const socket = await firstConnected({ url, addresses: addresses.slice(0, mostAddresses) }, guard, signal);
  return url.protocol === "https:" ? secured(socket, url, guard) : socket;
}

async function firstConnected(
  { url, addresses }: Target,
  guard: Guard,
  signal: AbortSignal,
): Promise<Socket> {
  const [address = "", ...others] = addresses;
  const isLast = others.length === 0;
  const socket = guard.connect({ address, port: portOf(url) });
  // For as long as the request lives: the signal also ends a body that is being read.
  signal.addEventListener("abort", () => socket.destroy(signal.reason), { once: true });
  if (signal.aborted) socket.destroy(signal.reason);
  try {
    await connected(socket, isLast ? undefined : patienceMs);
  } catch (thrown) {
    socket.destroy();
    if (isLast || signal.aborted) throw thrown;
    return firstConnected({ url, addresses: others }, guard, signal);
  }
  if (isSameAddress(socket.remoteAddress, address)) return socket;
  socket.destroy();
  const message = `${url.hostname} was reached at another address than the one that was checked. Nothing was sent.`;
  throw refusal("connection", message);
}

function connected(socket: Socket, patience: number | undefined): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const giveUp = () => reject(Object.assign(new Error("No answer."), { code: "ETIMEDOUT" }));
  const timer = patience === undefined ? undefined : setTimeout(giveUp, patience);
  socket.once("connect", resolve);
  // Stays for good: what fails later has its own listeners, and must not end the process.
  socket.on("error", reject);
  socket.once("close", () => reject(Object.assign(new Error("Closed."), { code: "ECONNRESET" })));
  return promise.finally(() => clearTimeout(timer));
}

function secured(socket: Socket, url: URL, { certificates }: Guard): Promise<Socket> {
  const host = bareHost(url.hostname);
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  const secure = connectByTls({
    socket,
    host,
    servername: isIP(host) ? "" : host,
    // Said although it is the default: NODE_TLS_REJECT_UNAUTHORIZED would change the default.
    rejectUnauthorized: true,
    ALPNProtocols: ["http/1.1"],
    ...(certificates.length > 0 && { ca: [...getCACertificates("default"), ...certificates] }),
  });
  secure.once("secureConnect", () => resolve(secure));
  secure.on("error", reject);
  secure.once("close", () => reject(Object.assign(new Error("Closed."), { code: "ECONNRESET" })));
  return promise;
}
