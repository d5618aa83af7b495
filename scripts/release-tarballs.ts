// The tarballs of a release: packed once, looked at, published as they are, and compared with what users get.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import type { ReleaseManifest, TarballFile } from "./release-checks.ts";

/** What a tarball is known by. */
export type ReleasedTarball = {
  readonly name: string;
  readonly version: string;
  /** The name of the file. */
  readonly file: string;
  /** As in a lockfile. */
  readonly integrity: string;
};

/** Packs what is built, without running anything of it. */
export function packInto(destination: string, folders: readonly string[]): ReleasedTarball[] {
  mkdirSync(destination, { recursive: true });
  const words = ["pack", "--json", "--ignore-scripts", "--pack-destination", destination, ...folders];
  const output = execFileSync("npm", words, { encoding: "utf8", maxBuffer: 50_000_000 });
  const packed = Object.values(JSON.parse(output) as readonly { name: string; filename: string }[]);
  return packed.map(({ filename }) => tarballAt(destination, filename));
}

function tarballAt(destination: string, file: string): ReleasedTarball {
  const { name, version } = manifestIn(filesIn(join(destination, file)));
  return { name, version, file, integrity: integrityOf(join(destination, file)) };
}

/** What it unpacks to, as a user's npm would. */
export function filesIn(tarball: string): TarballFile[] {
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

export function manifestIn(files: readonly TarballFile[]): ReleaseManifest {
  return JSON.parse(files.find(({ path }) => path === "package.json")?.text ?? "{}");
}

function integrityOf(file: string): string {
  return `sha512-${createHash("sha512").update(readFileSync(file)).digest("base64")}`;
}

/** Downloads what the registry gives to everybody, and says where it is not what was built. */
export function publishedDifferences(built: readonly ReleasedTarball[], env: NodeJS.ProcessEnv): string[] {
  const folder = mkdtempSync(join(tmpdir(), "capstan-published-"));
  try {
    return built.flatMap(({ name, version, integrity }) => {
      const words = ["pack", `${name}@${version}`, "--json", "--pack-destination", folder];
      const output = execFileSync("npm", words, {
        encoding: "utf8",
        env,
        maxBuffer: 50_000_000,
        cwd: folder,
      });
      const [{ filename = "" } = {}] = Object.values(JSON.parse(output) as readonly { filename: string }[]);
      const found = integrityOf(join(folder, filename));
      return found === integrity
        ? []
        : [`${name}@${version} in the registry is ${found}, and ${integrity} was built.`];
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}
