import { isIP, type Socket } from "node:net";
import { isSameAddress } from "./addresses.ts";
import { getPort } from "./check-url.ts";
import type { Guard } from "./guard.ts";
import { createGuardRefusal } from "./guard-errors.ts";
import { normalizeHost } from "./host-names.ts";

/** Applies when there are more addresses to try. */
const connectTimeoutMs = 5000;
const maxAddresses = 4;

/** The addresses were checked; the connection goes to one of them. */
export type ConnectTarget = { readonly url: URL; readonly addresses: readonly string[] };

/** Connects to one of the addresses, with TLS for https. The host name is used to verify the certificate. */
export async function openSocket(
  { url, addresses }: ConnectTarget,
  guard: Guard,
  signal: AbortSignal,
): Promise<Socket> {
  const socket = await connectToFirst({ url, addresses: addresses.slice(0, maxAddresses) }, guard, signal);
  return url.protocol === "https:" ? openTlsSocket(socket, url, guard) : socket;
}

async function connectToFirst(
  { url, addresses }: ConnectTarget,
  guard: Guard,
  signal: AbortSignal,
): Promise<Socket> {
  const [address = "", ...remaining] = addresses;
  const isLast = remaining.length === 0;
  const socket = guard.connect({ address, port: getPort(url) });
  // Stays registered for the whole request: the signal also aborts reading the body.
  signal.addEventListener("abort", () => socket.destroy(signal.reason), { once: true });
  if (signal.aborted) socket.destroy(signal.reason);
  try {
    await waitForConnect(socket, isLast ? undefined : connectTimeoutMs);
  } catch (thrown) {
    socket.destroy();
    if (isLast || signal.aborted) throw thrown;
    return connectToFirst({ url, addresses: remaining }, guard, signal);
  }
  if (isSameAddress(socket.remoteAddress, address)) return socket;
  socket.destroy();
  const message = `${url.hostname} was reached at a different address than the one that was checked. Nothing was sent.`;
  throw createGuardRefusal("connection", message);
}

function waitForConnect(socket: Socket, timeoutMs: number | undefined): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const onTimeout = () => reject(Object.assign(new Error("No answer."), { code: "ETIMEDOUT" }));
  const timer = timeoutMs === undefined ? undefined : setTimeout(onTimeout, timeoutMs);
  socket.once("connect", resolve);
  // Never removed: later errors have their own listeners but must not crash the process.
  socket.on("error", reject);
  socket.once("close", () => reject(Object.assign(new Error("Closed."), { code: "ECONNRESET" })));
  return promise.finally(() => clearTimeout(timer));
}

function openTlsSocket(socket: Socket, url: URL, { certificates }: Guard): Promise<Socket> {
  const host = normalizeHost(url.hostname);
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  // Not imported: that would parse the certificates of all authorities, which takes Node 5 ms. Workers have no
  // `getCACertificates`, and would not load an import that names it.
  const tls = process.getBuiltinModule("node:tls");
  const secure = tls.connect({
    socket,
    host,
    servername: isIP(host) ? "" : host,
    // Explicit, because NODE_TLS_REJECT_UNAUTHORIZED can change the default.
    rejectUnauthorized: true,
    ALPNProtocols: ["http/1.1"],
    ...(certificates.length > 0 && { ca: [...tls.getCACertificates("default"), ...certificates] }),
  });
  secure.once("secureConnect", () => resolve(secure));
  secure.on("error", reject);
  secure.once("close", () => reject(Object.assign(new Error("Closed."), { code: "ECONNRESET" })));
  return promise;
}
