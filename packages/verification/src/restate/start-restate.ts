// A real Restate server for tests, from the binaries on npm. The server has the Business Source License 1.1: it is a
// development dependency of this private package alone, and no published package contains it.
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { arch, platform, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { findFreePort } from "../find-free-port.ts";

export type RestateNode = {
  readonly ingressUrl: string;
  readonly adminUrl: string;
  /** What the node has logged since its last start. */
  getLog(): string;
  /** Kills the node with SIGKILL. Its data is kept. */
  kill(): Promise<void>;
  /** Starts the node again after `kill`, and waits until it serves. */
  restart(): Promise<void>;
};

export type RestateServer = {
  readonly nodes: readonly RestateNode[];
  readonly ingressUrl: string;
  readonly adminUrl: string;
  /** Reads from the tables of the server, such as `sys_invocation`. */
  query(sql: string): Promise<readonly Record<string, unknown>[]>;
  /** Kills all nodes and removes their data. */
  stop(): Promise<void>;
};

export type RestateSettings = {
  /** Default: 1. With more, logs and metadata are replicated: a cluster of three survives the loss of one. */
  readonly nodes?: number;
  /** A file with the private key that signs the requests to workers. */
  readonly identityKeyFile?: string;
};

const startTimeoutMs = 60_000;

/** The path of the server, or undefined if there is none for this system. */
export function findRestateServer(): string | undefined {
  const name = `@restatedev/restate-server-${platform()}-${arch()}`;
  try {
    const manifest = createRequire(import.meta.url).resolve(`${name}/package.json`);
    return join(dirname(manifest), "bin", "restate-server");
  } catch {
    return undefined;
  }
}

/** Starts a server, or a cluster, on free loopback ports with its data in a temporary folder. */
export async function startRestate(settings: RestateSettings = {}): Promise<RestateServer> {
  const program = findRestateServer();
  if (!program) throw new Error(`There is no Restate server for ${platform()} ${arch()} on npm.`);
  const folder = mkdtempSync(join(tmpdir(), "capstan-restate-"));
  const count = settings.nodes ?? 1;
  const ports = await Promise.all(Array.from({ length: count * 3 }, findFreePort));
  const nodePorts = Array.from({ length: count }, (_, index) => ports.slice(index * 3, index * 3 + 3));
  const fabric = nodePorts.map(([port]) => `http://127.0.0.1:${port}`);
  const nodes: RestateNode[] = [];
  const stop = async () => {
    await Promise.all(nodes.map((node) => node.kill()));
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    for (const [index, [port = 0, admin = 0, ingress = 0]] of nodePorts.entries()) {
      const node = createNode({ program, folder, number: index + 1, ports: { port, admin, ingress } });
      writeFileSync(node.configFile, formatConfig(node.options, fabric, settings));
      nodes.push(node);
    }
    await Promise.all(nodes.map((node) => node.restart()));
  } catch (error) {
    await stop();
    throw error;
  }
  const [first] = nodes as [RestateNode, ...RestateNode[]];
  return {
    nodes,
    ingressUrl: first.ingressUrl,
    adminUrl: first.adminUrl,
    async query(sql) {
      const response = await fetch(`${first.adminUrl}/query`, {
        method: "POST",
        headers: { "content-type": "application/json", accept: "application/json" },
        body: JSON.stringify({ query: sql }),
      });
      if (!response.ok) throw new Error(`The query failed (${response.status}): ${await response.text()}`);
      return ((await response.json()) as { rows: Record<string, unknown>[] }).rows;
    },
    stop,
  };
}

type NodeOptions = {
  readonly program: string;
  readonly folder: string;
  readonly number: number;
  readonly ports: { readonly port: number; readonly admin: number; readonly ingress: number };
};

// The shell outlives an interrupted test run: when stdin closes, it kills the server.
const supervisor = `
"$@" 2>&1 & server=$!
read -r word
kill -KILL $server 2>/dev/null
wait $server 2>/dev/null
[ "$word" = keep ] || rm -rf "$folder"`;

function createNode(options: NodeOptions): RestateNode & { options: NodeOptions; configFile: string } {
  const { program, folder, number, ports } = options;
  const data = join(folder, `node-${number}`);
  const configFile = join(folder, `node-${number}.toml`);
  const ingressUrl = `http://127.0.0.1:${ports.ingress}`;
  const adminUrl = `http://127.0.0.1:${ports.admin}`;
  let running: { readonly ended: Promise<void>; end(): void } | undefined;
  let log = "";
  mkdirSync(data);

  async function kill(): Promise<void> {
    running?.end();
    await running?.ended;
    running = undefined;
  }

  async function restart(): Promise<void> {
    log = "";
    const shell = spawn("sh", ["-c", supervisor, "sh", program, "--no-logo", "--config-file", configFile], {
      cwd: data,
      env: { PATH: process.env.PATH, folder },
      detached: true, // so that Ctrl-C does not reach it first
      stdio: ["pipe", "pipe", "inherit"],
    });
    const exit = Promise.withResolvers<void>();
    let hasEnded = false;
    shell.once("exit", () => {
      hasEnded = true;
      exit.resolve();
    });
    shell.stdin.on("error", () => undefined); // it may have ended already
    shell.stdout.on("data", (text: Buffer) => {
      log = `${log}${text}`.slice(-64_000);
    });
    running = { ended: exit.promise, end: () => void shell.stdin.end("keep\n") };
    const deadline = performance.now() + startTimeoutMs;
    while (!(await isServing(ingressUrl, adminUrl))) {
      if (hasEnded || performance.now() > deadline)
        throw new Error(`Restate node ${number} did not start:\n${log.slice(-4_000)}`);
      await pause(50);
    }
  }
  return { options, configFile, ingressUrl, adminUrl, getLog: () => log, kill, restart };
}

async function isServing(ingressUrl: string, adminUrl: string): Promise<boolean> {
  const answers = await Promise.all(
    [`${ingressUrl}/restate/health`, `${adminUrl}/health`].map((url) =>
      fetch(url, { signal: AbortSignal.timeout(2_000) }).then(
        ({ ok }) => ok,
        () => false,
      ),
    ),
  );
  return answers.every(Boolean);
}

/**
 * Small enough for several servers on one machine. The keep-alive of the invoker notices a worker that hangs within four
 * seconds instead of a minute, and few streams per connection spread the runs over the workers behind a balancer.
 */
function formatConfig(
  { folder, number, ports }: NodeOptions,
  fabric: readonly string[],
  { identityKeyFile }: RestateSettings,
): string {
  return `
node-name = "node-${number}"
cluster-name = "capstan-test"
base-dir = ${JSON.stringify(join(folder, `node-${number}`))}
bind-ip = "127.0.0.1"
bind-port = ${ports.port}
advertised-address = "http://127.0.0.1:${ports.port}"
listen-mode = "tcp"
auto-provision = ${number === 1}
default-num-partitions = 4
default-replication = ${Math.ceil((fabric.length + 1) / 2)}
disable-telemetry = true
log-disable-ansi-codes = true
rocksdb-total-memory-size = "192 MiB"

[metadata-client]
addresses = ${JSON.stringify(fabric)}

[worker.invoker]
http2-keep-alive-interval = "2s"
http2-keep-alive-timeout = "2s"
http2-streams-per-connection-limit = 2
${identityKeyFile === undefined ? "" : `request-identity-private-key-pem-file = ${JSON.stringify(identityKeyFile)}`}

[admin]
bind-port = ${ports.admin}
disable-web-ui = true

[ingress]
bind-port = ${ports.ingress}
`;
}
