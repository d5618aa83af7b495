// Starts the Restate server that the user has installed from npm, for a trial on this machine. It has the Business Source
// License 1.1, and no package of Capstan contains it.
import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { arch, platform } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { AgentError } from "capstan";

export type TrialServer = {
  readonly folder: string;
  readonly ingressUrl: string;
  readonly adminUrl: string;
};

const startTimeoutMs = 60_000;

type TrialOptions = {
  /** For its data. */
  readonly folder: string;
  /** A folder in which the server is installed. */
  readonly from: string;
};

let trialServer: Promise<TrialServer> | undefined;

/** Returns the server of this process, and starts it when it is first needed. It ends with the process. */
export function findTrialServer(options: TrialOptions): Promise<TrialServer> {
  trialServer ??= startServer(options);
  return trialServer;
}

/** Starts the server on free loopback ports. */
async function startServer({ folder, from }: TrialOptions): Promise<TrialServer> {
  const program = findProgram(from);
  const [port = 0, admin = 0, ingress = 0] = await findFreePorts(3);
  mkdirSync(folder, { recursive: true });
  const configFile = join(folder, "restate.toml");
  writeFileSync(configFile, formatConfig(folder, { port, admin, ingress }));
  const child = spawn(program, ["--no-logo", "--config-file", configFile], {
    cwd: folder,
    env: { PATH: process.env.PATH },
    detached: true, // so that Ctrl-C reaches the runs first
    stdio: ["ignore", "pipe", "pipe"],
  });
  let log = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (text: Buffer) => {
      log = `${log}${text}`.slice(-4_000);
    });
  // What it has accepted is on its disk.
  process.once("exit", () => child.kill("SIGKILL"));
  child.unref();
  const [ingressUrl, adminUrl] = [`http://127.0.0.1:${ingress}`, `http://127.0.0.1:${admin}`];
  const deadline = performance.now() + startTimeoutMs;
  while (!(await isServing([`${ingressUrl}/restate/health`, `${adminUrl}/health`]))) {
    if (child.exitCode === null && performance.now() < deadline) {
      await pause(100);
      continue;
    }
    child.kill("SIGKILL");
    throw new AgentError("server_unreachable", `The Restate server did not start: ${log.trim()}`);
  }
  return { folder, ingressUrl, adminUrl };
}

function findProgram(from: string): string {
  const name = `@restatedev/restate-server-${platform()}-${arch()}`;
  for (const base of [join(from, "package.json"), import.meta.url]) {
    try {
      return join(dirname(createRequire(base).resolve(`${name}/package.json`)), "bin", "restate-server");
    } catch {
      // not installed there
    }
  }
  const message =
    "No Restate server found. For a trial, run `npm install --save-dev @restatedev/restate-server`; for your own server, set RESTATE_INGRESS_URL and RESTATE_ADMIN_URL.";
  throw new AgentError("invalid_definition", message);
}

async function isServing(urls: readonly string[]): Promise<boolean> {
  const isOk = (url: string) =>
    fetch(url, { signal: AbortSignal.timeout(2_000) }).then(
      ({ ok }) => ok,
      () => false,
    );
  return (await Promise.all(urls.map(isOk))).every(Boolean);
}

type Ports = { readonly port: number; readonly admin: number; readonly ingress: number };

/** One node, no telemetry, and a keep-alive that notices a worker that hangs within seconds. */
function formatConfig(folder: string, { port, admin, ingress }: Ports): string {
  return `node-name = "trial"
cluster-name = "capstan-trial"
base-dir = ${JSON.stringify(join(folder, "data"))}
bind-ip = "127.0.0.1"
bind-port = ${port}
advertised-address = "http://127.0.0.1:${port}"
listen-mode = "tcp"
auto-provision = true
default-num-partitions = 4
disable-telemetry = true
log-disable-ansi-codes = true
rocksdb-total-memory-size = "192 MiB"

[metadata-client]
addresses = ["http://127.0.0.1:${port}"]

[worker.invoker]
http2-keep-alive-interval = "5s"
http2-keep-alive-timeout = "5s"

[admin]
bind-port = ${admin}
disable-web-ui = true

[ingress]
bind-port = ${ingress}
`;
}

async function findFreePorts(count: number): Promise<readonly number[]> {
  const servers = Array.from({ length: count }, () => createServer());
  // All are open at once, so that no port is found twice.
  await Promise.all(
    servers.map((server) => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))),
  );
  const ports = servers.map((server) => {
    const address = server.address();
    return typeof address === "object" && address ? address.port : 0;
  });
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}
