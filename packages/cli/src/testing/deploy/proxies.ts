// Starts the proxies of the kit on loopback, with their files unchanged but for addresses and certificates.
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { kitFolder, readKitFile } from "./kit-files.ts";

export type ProxyOptions = {
  /** An empty folder for its files. */
  readonly folder: string;
  /** Port of the server behind it. */
  readonly upstream: number;
  /** Port for HTTPS. */
  readonly port: number;
};

/** How to check a configuration and serve it, both with files in `folder`. */
export type ProxyCommands = {
  readonly check: readonly string[];
  readonly serve: readonly string[];
  readonly env: Readonly<Record<string, string>>;
};

/** Writes a configuration that includes the kit's Caddyfile and signs its own certificates. */
export function prepareCaddy({ folder, upstream, port }: ProxyOptions): ProxyCommands {
  const file = join(folder, "Caddyfile");
  const options = ["admin off", "default_bind 127.0.0.1", `https_port ${port}`, "local_certs"];
  const more = ["skip_install_trust", "auto_https disable_redirects"];
  writeFileSync(file, `{\n${[...options, ...more].join("\n")}\n}\nimport ${join(kitFolder, "Caddyfile")}\n`);
  const flags = ["--config", file, "--adapter", "caddyfile"];
  return {
    check: ["caddy", "validate", ...flags],
    serve: ["caddy", "run", ...flags],
    env: {
      HOME: folder,
      XDG_DATA_HOME: folder,
      XDG_CONFIG_HOME: folder,
      CAPSTAN_UPSTREAM: `127.0.0.1:${upstream}`,
    },
  };
}

/** Writes a configuration that includes the kit's file for nginx, with a new certificate. */
export function prepareNginx({ folder, upstream, port }: ProxyOptions): ProxyCommands {
  const certificate = join(folder, "fullchain.pem");
  const key = join(folder, "privkey.pem");
  const subject = ["-subj", "/CN=agents.example.com", "-days", "2", "-nodes"];
  const form = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"];
  execFileSync("openssl", ["req", "-x509", ...form, ...subject, "-keyout", key, "-out", certificate], {
    stdio: "ignore",
  });
  const site = [
    ["listen 443 ssl", `listen 127.0.0.1:${port} ssl`],
    ["server 127.0.0.1:4680;", `server 127.0.0.1:${upstream};`],
    ["/etc/letsencrypt/live/agents.example.com", folder],
  ].reduce((text, [from = "", to = ""]) => {
    if (!text.includes(from)) throw new Error(`nginx.conf has no "${from}".`);
    return text.replaceAll(from, to);
  }, readKitFile("nginx.conf"));
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (name) => `${name}_temp_path ${join(folder, name)};`,
  );
  const main = `daemon off; pid ${join(folder, "nginx.pid")}; error_log stderr; worker_processes 1;
events { worker_connections 64; }
http { access_log off; ${temporary.join(" ")}
${site}}`;
  writeFileSync(join(folder, "nginx.conf"), main);
  const command = ["nginx", "-p", folder, "-e", "stderr", "-c", join(folder, "nginx.conf")];
  return { check: [...command, "-t"], serve: command, env: {} };
}

/** Checks the configuration, then starts the proxy. The proxy may not listen yet. */
export function startProxy({ check, serve, env }: ProxyCommands): ChildProcess {
  const options = { env: { PATH: process.env.PATH ?? "", ...env } };
  for (const [program = "", ...words] of [check]) execFileSync(program, words, { ...options, stdio: "pipe" });
  const [program = "", ...words] = serve;
  return spawn(program, words, { ...options, stdio: "ignore" });
}

/** Returns a port of loopback that is free at the moment. */
export async function findProxyPort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  return typeof address === "object" && address ? address.port : 0;
}

/** Creates a folder that other users may enter, as the workers of nginx must. */
export function createProxyFolder(parent: string, name: string): string {
  const folder = join(parent, name);
  mkdirSync(folder, { mode: 0o755 });
  return folder;
}
