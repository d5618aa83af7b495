// Starts the server with the commands, users and restrictions of the kit's files.
import { chownSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parse } from "yaml";
import type { Image } from "./build-image.ts";
import { findInstructions } from "./container-file.ts";
import { readKitFile } from "./kit-files.ts";
import { findProxyPort } from "./proxies.ts";
import { type Sandbox, type SandboxedProcess, startInSandbox } from "./sandbox.ts";
import { readUnitCommand, readUnitSetting, readUnitVariables } from "./unit-file.ts";

export type KitOptions = {
  readonly image: Image;
  /** A folder for its data and secrets. */
  readonly place: string;
  /** The content of `capstan.env`. */
  readonly secrets: Readonly<Record<string, string>>;
};

/** A server of the kit. */
export type KitServer = SandboxedProcess & {
  readonly url: string;
  readonly sandbox: Sandbox;
  readonly graceSeconds: number;
};

/** As `docker compose up` does with the image. */
export async function startComposeService({ image, place, secrets }: KitOptions): Promise<KitServer> {
  const { capstan } = parse(readKitFile("compose.yaml")).services;
  const [uid, gid] = capstan.user.split(":").map(Number);
  const data = createKitFolder(join(place, "compose-data"), statSync(join(image.root, "data")));
  const file = writeSecrets(join(place, "capstan.env"), secrets, uid);
  const [port, healthPort] = [await findProxyPort(), await findProxyPort()];
  const mounted = capstan.secrets.map((name: string) => [`/run/secrets/${name}`, file]);
  const volumes = capstan.volumes.map((volume: string) => [volume.split(":")[1], data]);
  const sandbox: Sandbox = {
    root: image.root,
    workingFolder: image.workingFolder,
    // The image listens on all addresses of its container.
    env: { ...image.env, HOST: "127.0.0.1", PORT: String(port), CAPSTAN_HEALTH_PORT: String(healthPort) },
    ...{ uid, gid, temporary: capstan.tmpfs },
    readOnly: Object.fromEntries(mounted),
    writable: Object.fromEntries(volumes),
  };
  const [command] = findInstructions(image.stage, "CMD");
  const started = await startInSandbox(sandbox, command?.words ?? []);
  const graceSeconds = Number.parseInt(capstan.stop_grace_period, 10);
  return { ...started, sandbox, graceSeconds, url: `http://127.0.0.1:${port}` };
}

/** As `systemctl start` does, for a user that exists only while the service runs. */
export async function startUnit({ image, place, secrets }: KitOptions): Promise<KitServer> {
  const owner = { uid: 61_234, gid: 61_234, mode: 0o700 };
  const root = join(place, "machine");
  mkdirSync(join(root, "etc"), { recursive: true, mode: 0o755 });
  const state = createKitFolder(join(place, "state"), owner);
  const port = await findProxyPort();
  const [folder = ""] = readUnitSetting("WorkingDirectory");
  const [stateName = ""] = readUnitSetting("StateDirectory");
  const sandbox: Sandbox = {
    root,
    workingFolder: folder,
    // Systemd itself reads the secrets, and sets HOME.
    env: { HOME: "/", ...readUnitVariables(), ...secrets, PORT: String(port) },
    ...{ uid: owner.uid, gid: owner.gid, temporary: ["/tmp"] },
    readOnly: { [folder]: join(image.root, image.workingFolder) },
    writable: { [join("/var/lib", stateName)]: state },
  };
  const started = await startInSandbox(sandbox, readUnitCommand());
  const graceSeconds = Number(readUnitSetting("TimeoutStopSec")[0]);
  return { ...started, sandbox, graceSeconds, url: `http://127.0.0.1:${port}` };
}

type Owner = { readonly uid: number; readonly gid: number; readonly mode: number };

function createKitFolder(path: string, { uid, gid, mode }: Owner): string {
  mkdirSync(path, { recursive: true, mode: mode & 0o777 });
  chownSync(path, uid, gid);
  return path;
}

function writeSecrets(file: string, secrets: KitOptions["secrets"], uid: number): string {
  mkdirSync(dirname(file), { recursive: true });
  const lines = Object.entries(secrets).map(([name, value]) => `${name}=${value}\n`);
  writeFileSync(file, lines.join(""), { mode: 0o600 });
  chownSync(file, uid, uid);
  return file;
}
