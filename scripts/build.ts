// Builds a package for publication: its entry points as bundles that share what they have in common, because every file
// that is loaded costs time at import; and declarations, file by file, from the compiler.
import { execFileSync } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { build } from "rolldown";

type Manifest = {
  readonly exports: {
    readonly [subpath: string]: { readonly "capstan-source": string; readonly default: string };
  };
  readonly dependencies?: { readonly [name: string]: string };
  readonly peerDependencies?: { readonly [name: string]: string };
};

/** "dist/testing/index.js" becomes "testing/index": entry points keep their places. */
export function entriesOf({ exports }: Manifest): { [name: string]: string } {
  const entries = Object.values(exports).map(({ "capstan-source": source, default: built }) => [
    built.replace(/^\.\/dist\//, "").replace(/\.js$/, ""),
    source,
  ]);
  return Object.fromEntries(entries);
}

/** Writes the bundles; whatever was built before is gone. */
export async function bundle(folder: string): Promise<void> {
  const manifest: Manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const outside = Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies });
  rmSync(join(folder, "dist"), { recursive: true, force: true });
  await build({
    cwd: folder,
    input: entriesOf(manifest),
    platform: "neutral",
    // Test suites use the runner of whoever runs them.
    external: (id) =>
      /^(node:|vitest$|fast-check$)/.test(id) ||
      outside.some((name) => id === name || id.startsWith(`${name}/`)),
    output: { dir: "dist", format: "esm", sourcemap: true, chunkFileNames: "shared/[name]-[hash].js" },
    logLevel: "warn",
  });
}

async function main(folder: string): Promise<void> {
  await bundle(folder);
  execFileSync("tsc", ["-p", "tsconfig.build.json"], { cwd: folder, stdio: "inherit" });
}

if (process.argv[1] === import.meta.filename) await main(resolve(process.argv[2] ?? "."));
