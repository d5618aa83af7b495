// Blocks the network when loaded first: every connection, DNS lookup and datagram to another machine is refused, recorded,
// and reported when the process exits. Reserved names (RFC 6761: .invalid, .test) resolve to ENOTFOUND without a query.
import dgram from "node:dgram";
import dns from "node:dns";
import { syncBuiltinESMExports } from "node:module";
import net from "node:net";

type Method = (this: unknown, ...parameters: unknown[]) => unknown;

const loopback = new net.BlockList();
loopback.addSubnet("127.0.0.0", 8, "ipv4");
loopback.addAddress("::1", "ipv6");

// Stored on globalThis, because the hooks are installed once but this module is loaded for each test file.
const leaksKey = Symbol.for("capstan.loopback-only");
const isFirst = !Reflect.has(globalThis, leaksKey);
if (isFirst) Reflect.set(globalThis, leaksKey, []);
const leaks = Reflect.get(globalThis, leaksKey) as string[];

/** True if an address or name refers to this machine. */
export function isLoopback(host: string): boolean {
  const bare = host.replace(/^\[|\]$/g, "");
  const family = net.isIP(bare);
  if (family === 0) return /^(?:[\w-]+\.)*localhost\.?$/i.test(bare);
  return loopback.check(bare, family === 4 ? "ipv4" : "ipv6");
}

/** True for names that can never be registered. */
export function isReservedName(host: string): boolean {
  return /\.(?:invalid|test)\.?$/i.test(host);
}

function recordLeak(target: string): Error {
  leaks.push(target);
  const message = `Network access blocked: ${target}. In tests, use a listener on 127.0.0.1.`;
  return Object.assign(new Error(message), { code: "ENETUNREACH" });
}

function createNotFoundError(name: string): Error {
  const error = new Error(`getaddrinfo ENOTFOUND ${name}`);
  return Object.assign(error, { code: "ENOTFOUND", errno: -3008, syscall: "getaddrinfo", hostname: name });
}

/** Returns the error for a lookup that must not be made. */
function findLookupProblem(name: unknown): Error | undefined {
  if (typeof name !== "string" || name === "" || isLoopback(name)) return undefined;
  if (isReservedName(name)) return createNotFoundError(name);
  return net.isIP(name) ? undefined : recordLeak(`lookup of ${name}`);
}

function replaceMethod(owner: object, name: string, createReplacement: (original: Method) => Method): void {
  const original: unknown = Reflect.get(owner, name);
  if (typeof original === "function") Reflect.set(owner, name, createReplacement(original as Method));
}

function hookConnections(): void {
  replaceMethod(
    net.Socket.prototype,
    "connect",
    (connect) =>
      function (this: unknown, ...parameters) {
        const socket = this as net.Socket;
        const host = getHost(parameters);
        if (host !== undefined && net.isIP(host) && !isLoopback(host)) {
          const error = recordLeak(`connection to ${host}`);
          process.nextTick(() => socket.destroy(error));
          return socket;
        }
        // A custom lookup function bypasses the hooks of node:dns, but its result is visible here.
        socket.on("lookup", (error, address) => {
          if (!error && !isLoopback(String(address))) socket.destroy(recordLeak(`connection to ${address}`));
        });
        return connect.apply(this, parameters);
      },
  );
}

/** Handles the signatures of `connect`: (options), (port, host), (path), and Node's normalized array. */
function getHost(parameters: readonly unknown[]): string | undefined {
  const [first, second] = Array.isArray(parameters[0]) ? (parameters[0] as unknown[]) : parameters;
  const host = typeof first === "object" && first !== null && "host" in first ? first.host : second;
  return typeof host === "string" ? host : undefined;
}

function hookDatagrams(): void {
  for (const name of ["send", "connect"])
    replaceMethod(
      dgram.Socket.prototype,
      name,
      (original) =>
        function (this: unknown, ...parameters) {
          const host = parameters.find((value) => typeof value === "string" && net.isIP(value)) as
            | string
            | undefined;
          if (host !== undefined && !isLoopback(host)) throw recordLeak(`datagram to ${host}`);
          return original.apply(this, parameters);
        },
    );
}

/** Callbacks receive the error as the first argument; promises reject. */
function hookLookups(): void {
  const isLookup = (name: string) => name === "lookup" || name.startsWith("resolve") || name === "reverse";
  for (const owner of [dns, dns.Resolver.prototype])
    for (const name of listMethods(owner).filter(isLookup))
      replaceMethod(
        owner,
        name,
        (original) =>
          function (this: unknown, ...parameters) {
            const problem = findLookupProblem(parameters[0]);
            const callback = parameters.at(-1);
            if (!problem || typeof callback !== "function") return original.apply(this, parameters);
            process.nextTick(() => callback(problem));
            return {};
          },
      );
  for (const owner of [dns.promises, dns.promises.Resolver.prototype])
    for (const name of listMethods(owner).filter(isLookup))
      replaceMethod(
        owner,
        name,
        (original) =>
          async function (this: unknown, ...parameters) {
            const problem = findLookupProblem(parameters[0]);
            if (problem) throw problem;
            return original.apply(this, parameters);
          },
      );
}

function listMethods(owner: object): string[] {
  const names = new Set<string>();
  for (let at: object | null = owner; at && at !== Object.prototype; at = Object.getPrototypeOf(at))
    for (const name of Object.getOwnPropertyNames(at)) names.add(name);
  return [...names];
}

/** Returns and clears the blocked attempts. */
export function takeLeaks(): string[] {
  return leaks.splice(0);
}

if (isFirst) {
  hookConnections();
  hookDatagrams();
  hookLookups();
  syncBuiltinESMExports();
  process.on("exit", () => {
    for (const target of takeLeaks()) process.stderr.write(`Blocked network access: ${target}\n`);
  });
}
