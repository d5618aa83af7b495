import { execFile } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Packed } from "./loopback-registry.ts";

const execute = promisify(execFile);
const root = join(import.meta.dirname, "../../../..");

/** A package as it is published, and what is in it. */
export type PackedPackage = Packed & {
  readonly name: string;
  /** Where its files lie as they were packed. */
  readonly folder: string;
  readonly size: number;
  readonly files: readonly { readonly path: string }[];
};

export type PackOptions = {
  /** An empty folder outside of the workspace. */
  readonly place: string;
  /** Folders below `packages`. */
  readonly names: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** Adds files that the bundler does not build to the packages folder. */
  readonly addBuilt?: (packages: string) => Promise<void>;
};

/** Builds and packs copies into `tarballs` of the place, so that other tests may build in the workspace meanwhile. */
export async function packPackages({ place, names, env, addBuilt }: PackOptions): Promise<PackedPackage[]> {
  const workspace = join(place, "workspace");
  const tarballs = join(place, "tarballs");
  mkdirSync(join(workspace, "packages"), { recursive: true });
  mkdirSync(tarballs);
  symlinkSync(join(root, "node_modules"), join(workspace, "node_modules"));
  const folders = names.map((name) => copyPackage(name, workspace));
  const program = `
    const { bundlePackage } = await import(${JSON.stringify(join(root, "scripts/build.ts"))});
    for (const folder of ${JSON.stringify(folders)}) await bundlePackage(folder);`;
  await execute(process.execPath, ["--input-type=module", "-e", program], { cwd: root });
  await addBuilt?.(join(workspace, "packages"));
  const words = ["pack", "--json", "--ignore-scripts", "--pack-destination", tarballs, ...folders];
  const { stdout } = await execute("npm", words, { cwd: place, env });
  const listed = Object.values(JSON.parse(stdout) as readonly Listed[]);
  return folders.map((folder) => {
    const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    const { filename, ...rest } = listed.find(({ name }) => name === manifest.name) as Listed;
    return { ...rest, manifest, folder, file: join(tarballs, filename) };
  });
}

type Listed = Pick<PackedPackage, "name" | "size" | "files"> & { readonly filename: string };

function copyPackage(name: string, workspace: string): string {
  const folder = join(workspace, "packages", name);
  for (const part of ["package.json", "README.md", "LICENSE", "src", "bin", "templates"]) {
    const from = join(root, "packages", name, part);
    if (existsSync(from)) cpSync(from, join(folder, part), { recursive: true });
  }
  return folder;
}
