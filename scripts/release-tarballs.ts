// The tarballs of a release: packed once, inspected, published unchanged, and compared with the registry.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import type { ReleaseManifest, TarballFile } from "./release-checks.ts";

export type ReleasedTarball = {
  readonly name: string;
  readonly version: string;
  readonly file: string;
  /** As in a lockfile. */
  readonly integrity: string;
};

/** Packs the built packages without running scripts. */
export function packPackages(destination: string, folders: readonly string[]): ReleasedTarball[] {
  mkdirSync(destination, { recursive: true });
  const npmArguments = ["pack", "--json", "--ignore-scripts", "--pack-destination", destination, ...folders];
  const output = execFileSync("npm", npmArguments, { encoding: "utf8", maxBuffer: 50_000_000 });
  const packed = Object.values(JSON.parse(output) as readonly { name: string; filename: string }[]);
  return packed.map(({ filename }) => describeTarball(destination, filename));
}

function describeTarball(destination: string, file: string): ReleasedTarball {
  const { name, version } = getManifest(readTarball(join(destination, file)));
  return { name, version, file, integrity: computeIntegrity(join(destination, file)) };
}

/** Unpacks a tarball and returns its files. */
export function readTarball(tarball: string): TarballFile[] {
  const folder = mkdtempSync(join(tmpdir(), "capstan-release-"));
  try {
    execFileSync("tar", ["-xzf", tarball, "-C", folder]);
    const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
    return entries
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .map((path) => ({
        path: relative(join(folder, "package"), path).replaceAll("\\", "/"),
        text: readFileSync(path, "utf8"),
      }));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

export function getManifest(files: readonly TarballFile[]): ReleaseManifest {
  return JSON.parse(files.find(({ path }) => path === "package.json")?.text ?? "{}");
}

function computeIntegrity(file: string): string {
  return `sha512-${createHash("sha512").update(readFileSync(file)).digest("base64")}`;
}

/** Downloads the published packages and reports every one that differs from the build. */
export function comparePublished(
  builtTarballs: readonly ReleasedTarball[],
  env: NodeJS.ProcessEnv,
): string[] {
  const folder = mkdtempSync(join(tmpdir(), "capstan-published-"));
  try {
    return builtTarballs.flatMap(({ name, version, integrity }) => {
      const npmArguments = ["pack", `${name}@${version}`, "--json", "--pack-destination", folder];
      const output = execFileSync("npm", npmArguments, {
        encoding: "utf8",
        env,
        maxBuffer: 50_000_000,
        cwd: folder,
      });
      const [{ filename = "" } = {}] = Object.values(JSON.parse(output) as readonly { filename: string }[]);
      const publishedIntegrity = computeIntegrity(join(folder, filename));
      return publishedIntegrity === integrity
        ? []
        : [`${name}@${version} in the registry is ${publishedIntegrity}, but the build is ${integrity}.`];
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}
