// A registry on this machine, with the packages that `npm ci` has put into the workspace and a few tarballs: what is
// installed from it is installed as from the real one, and nothing leaves the machine.
import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { basename, dirname, join } from "node:path";
import { promisify } from "node:util";

type Manifest = { readonly name: string; readonly version: string };
type Package = { readonly manifest: Manifest; tarball(): Promise<Buffer> };

const nested = "*/node_modules";
const unread = ["*/test", "*.map", "*.md", "*.ts", "*.mts", "*.cts"];

/** A tarball that was packed, and the manifest in it. */
export type Packed = { readonly manifest: Manifest; readonly file: string };

/** Where npm is to look. */
export interface LoopbackRegistry {
  readonly url: string;
  close(): void;
}

export type RegistryOptions = {
  /** Leaves out what no program of a third party reads, such as types: most of the files that npm would unpack. */
  readonly programsOnly?: boolean;
};

/** Starts one. */
export async function startLoopbackRegistry(
  root: string,
  packed: readonly Packed[],
  { programsOnly = false }: RegistryOptions = {},
): Promise<LoopbackRegistry> {
  const excluded = programsOnly ? [nested, ...unread] : [nested];
  const packages = new Map<string, Map<string, Package>>();
  const add = (entry: Package): void => {
    const { name, version } = entry.manifest;
    packages.set(name, (packages.get(name) ?? new Map()).set(version, entry));
  };
  for (const folder of listInstalledFolders(root)) add(toPackage(folder, excluded));
  for (const { manifest, file } of packed) add({ manifest, tarball: async () => readFileSync(file) });

  const server = createServer(async (request, response) => {
    const [, name = "", version] = /^\/((?:@[^/]+\/)?[^/]+)(?:\/-\/(.+)\.tgz)?$/.exec(
      decodeURIComponent(request.url ?? ""),
    ) ?? [undefined, ""];
    const versions = packages.get(name);
    const wanted = version === undefined ? undefined : versions?.get(version);
    if (!versions || (version !== undefined && !wanted)) return response.writeHead(404).end("{}");
    if (wanted) return response.end(await wanted.tarball());
    response.setHeader("content-type", "application/json");
    return response.end(JSON.stringify(buildDocument(name, versions, `http://${request.headers.host}`)));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

function buildDocument(name: string, versions: ReadonlyMap<string, Package>, url: string): unknown {
  const entries = [...versions].map(([version, { manifest }]) => [
    version,
    { ...manifest, dist: { tarball: `${url}/${name}/-/${version}.tgz` } },
  ]);
  return {
    name,
    "dist-tags": { latest: [...versions.keys()].at(-1) },
    versions: Object.fromEntries(entries),
  };
}

/** Third-party packages, as the lock file says. */
function listInstalledFolders(root: string): string[] {
  const lock = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")) as {
    packages: Record<string, { link?: boolean }>;
  };
  return Object.entries(lock.packages)
    .filter(([path, { link }]) => path.includes("node_modules/") && !link)
    .map(([path]) => join(root, path))
    .filter((folder) => existsSync(join(folder, "package.json")));
}

function toPackage(folder: string, excluded: readonly string[]): Package {
  const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;
  return {
    manifest,
    async tarball() {
      const words = ["-cf", "-", "-C", dirname(folder), ...excluded.map((pattern) => `--exclude=${pattern}`)];
      const rename = `--transform=s,^${basename(folder)},package,`;
      const { stdout } = await promisify(execFile)("tar", [...words, rename, basename(folder)], {
        encoding: "buffer",
        maxBuffer: 200_000_000,
      });
      return stdout;
    },
  };
}
