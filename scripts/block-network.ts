// Loaded first, it keeps a process on this machine: every connection, look-up and datagram is looked at before it
// begins, and one that would leave is refused and remembered. What was left for is told when the process ends.
// Names that can belong to nobody (RFC 6761: .invalid, .test) do not exist, without a question to anyone.
import dgram from "node:dgram";
import dns from "node:dns";
import { syncBuiltinESMExports } from "node:module";
import net from "node:net";

type Method = (this: unknown, ...parameters: unknown[]) => unknown;

const loopback = new net.BlockList();
loopback.addSubnet("127.0.0.0", 8, "ipv4");
loopback.addAddress("::1", "ipv6");

// With the process, not with this module: the hooks are set once, and this file is read anew for each test file.
const place = Symbol.for("capstan.loopback-only");
const isFirst = !Reflect.has(globalThis, place);
if (isFirst) Reflect.set(globalThis, place, []);
const leaks = Reflect.get(globalThis, place) as string[];

/** Whether an address, or a name that is asked for, is this machine. */
export function isLoopback(host: string): boolean {
  const bare = host.replace(/^\[|\]$/g, "");
  const family = net.isIP(bare);
  if (family === 0) return /^(?:[\w-]+\.)*localhost\.?$/i.test(bare);
  return loopback.check(bare, family === 4 ? "ipv4" : "ipv6");
}

/** Whether a name can belong to nobody. */
export function isNobody(host: string): boolean {
  return /\.(?:invalid|test)\.?$/i.test(host);
}

function leak(what: string): Error {
  leaks.push(what);
  const message = `Nothing may leave this machine: ${what}. In a test, give it a listener on 127.0.0.1.`;
  return Object.assign(new Error(message), { code: "ENETUNREACH" });
}

function notFound(name: string): Error {
  const error = new Error(`getaddrinfo ENOTFOUND ${name}`);
  return Object.assign(error, { code: "ENOTFOUND", errno: -3008, syscall: "getaddrinfo", hostname: name });
}

/** What a look-up of this name ends with, when it is not to be made. */
function problemOf(name: unknown): Error | undefined {
  if (typeof name !== "string" || name === "" || isLoopback(name)) return undefined;
  if (isNobody(name)) return notFound(name);
  return net.isIP(name) ? undefined : leak(`look-up of ${name}`);
}

function replace(owner: object, name: string, make: (original: Method) => Method): void {
  const original: unknown = Reflect.get(owner, name);
  if (typeof original === "function") Reflect.set(owner, name, make(original as Method));
}

function hookConnections(): void {
  replace(
    net.Socket.prototype,
    "connect",
    (connect) =>
      function (this: unknown, ...parameters) {
        const socket = this as net.Socket;
        const host = hostOf(parameters);
        if (host !== undefined && net.isIP(host) && !isLoopback(host)) {
          const error = leak(`connection to ${host}`);
          process.nextTick(() => socket.destroy(error));
          return socket;
        }
        // A look-up of the caller's own does not pass the hooks of node:dns, but its answer passes here.
        socket.on("lookup", (error, address) => {
          if (!error && !isLoopback(String(address))) socket.destroy(leak(`connection to ${address}`));
        });
        return connect.apply(this, parameters);
      },
  );
}

/** The forms of `connect`: (options), (port, host), (path), and the array that Node makes of them. */
function hostOf(parameters: readonly unknown[]): string | undefined {
  const [first, second] = Array.isArray(parameters[0]) ? (parameters[0] as unknown[]) : parameters;
  const named = typeof first === "object" && first !== null && "host" in first ? first.host : second;
  return typeof named === "string" ? named : undefined;
}

function hookDatagrams(): void {
  for (const name of ["send", "connect"])
    replace(
      dgram.Socket.prototype,
      name,
      (original) =>
        function (this: unknown, ...parameters) {
          const host = parameters.find((value) => typeof value === "string" && net.isIP(value)) as
            | string
            | undefined;
          if (host !== undefined && !isLoopback(host)) throw leak(`datagram to ${host}`);
          return original.apply(this, parameters);
        },
    );
}

/** With callbacks the last parameter gets the error; promises reject. */
function hookLookups(): void {
  const asks = (name: string) => name === "lookup" || name.startsWith("resolve") || name === "reverse";
  for (const owner of [dns, dns.Resolver.prototype])
    for (const name of methodsOf(owner).filter(asks))
      replace(
        owner,
        name,
        (original) =>
          function (this: unknown, ...parameters) {
            const problem = problemOf(parameters[0]);
            const callback = parameters.at(-1);
            if (!problem || typeof callback !== "function") return original.apply(this, parameters);
            process.nextTick(() => callback(problem));
            return {};
          },
      );
  for (const owner of [dns.promises, dns.promises.Resolver.prototype])
    for (const name of methodsOf(owner).filter(asks))
      replace(
        owner,
        name,
        (original) =>
          async function (this: unknown, ...parameters) {
            const problem = problemOf(parameters[0]);
            if (problem) throw problem;
            return original.apply(this, parameters);
          },
      );
}

function methodsOf(owner: object): string[] {
  const names = new Set<string>();
  for (let at: object | null = owner; at && at !== Object.prototype; at = Object.getPrototypeOf(at))
    for (const name of Object.getOwnPropertyNames(at)) names.add(name);
  return [...names];
}

/** What would have left so far, and forgets it. */
export function takeLeaks(): string[] {
  return leaks.splice(0);
}

if (isFirst) {
  hookConnections();
  hookDatagrams();
  hookLookups();
  syncBuiltinESMExports();
  process.on("exit", () => {
    for (const what of takeLeaks()) process.stderr.write(`It would have left this machine: ${what}\n`);
  });
}
