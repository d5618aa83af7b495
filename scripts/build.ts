// Builds a package for publication: entry points as bundles with shared chunks, because every loaded file adds to the
// import time, and declarations for each file from the compiler.
import { execFileSync } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { build, type ChunkingContext } from "rolldown";

/** Without `default`, it exists in this workspace only. */
type Export = { readonly "capstan-source": string; readonly default?: string };

type Manifest = {
  readonly exports: {
    /** A path is a file that is published as it is. */
    readonly [subpath: string]: Export | string;
  };
  readonly dependencies?: { readonly [name: string]: string };
  readonly peerDependencies?: { readonly [name: string]: string };
};

/** Entry points keep their location: "dist/testing/index.js" becomes "testing/index". */
export function getEntries({ exports }: Manifest): { [name: string]: string } {
  const entries = Object.values(exports).flatMap((entry) => {
    if (typeof entry === "string" || entry.default === undefined) return [];
    return [[entry.default.replace(/^\.\/dist\//, "").replace(/\.js$/, ""), entry["capstan-source"]]];
  });
  return Object.fromEntries(entries);
}

/** What is loaded together, in few files: each costs more to load than its content. The first match counts. */
const commonChunks = [
  {
    name: "vocabulary",
    test: /capstan\/src\/(?:(?:base|schema|kernel\/settings)\/|features\/(?:approvals\/approval-rules|exact-requests\/(?:diff-body|find-media|history-joiner|media-data|parse-body|rebuild-request|stored-request|text-pieces)|hosted\/(?:computer|hosted-tools))\.ts|kernel\/(?:agent|agent-version|approval-scope|call-check|effect|event|fact-types|history|hosted-support|hosted-tool|ids|infer-agent|isolation|model|policy|provenance|records|session-id|tool|tool-examples)\.ts|runtime\/(?:store|run-catalog)\.ts|buses\/delta-bus\.ts|models\/(?:environment|providers)\.ts)/,
  },
  {
    name: "model-client",
    test: /capstan\/src\/models\/(?:(?:circuit|describe-request|distinct-call-ids|event-pattern|event-shapes|http-failure|http-model|locate-fields|logprobs|model-table|post|pricing|special-tokens|stream-identity|stream-reader|wire|wire-media|with-cache)|embeddings\/embedding-model)\.ts/,
  },
  groupLoadedWith("capstan/src/index.ts", "core"),
  // For `capstan --version`, every command, `capstan --help`, and `capstan -p`.
  groupLoadedWith("cli/src/main.ts", "main"),
  groupLoadedWith("cli/src/commands/program.ts", "program"),
  { name: "commands", test: /cli\/src\/.*\/add-(?!skill\.)[\w-]+\.ts$/ },
  groupLoadedWith("cli/src/print/run-script.ts", "script"),
];

/** Puts a module and what is loaded with it into one chunk. What it imports by a call of `import()` is loaded later, if at all. */
function groupLoadedWith(entry: string, chunk: string) {
  const isLoaded = (id: string, graph: ChunkingContext, visited: Set<string> = new Set()): boolean => {
    if (visited.has(id)) return false;
    visited.add(id);
    if (id.endsWith(entry)) return true;
    return (graph.getModuleInfo(id)?.importers ?? []).some((each) => isLoaded(each, graph, visited));
  };
  const name = (id: string, graph: ChunkingContext) => (isLoaded(id, graph) ? chunk : null);
  return { debugName: chunk, name, test: new RegExp(`/${entry.slice(0, entry.indexOf("/"))}/src/`) };
}

/** Writes the bundles to `output` and removes the previous build. */
export async function bundlePackage(folder: string, output: string = join(folder, "dist")): Promise<void> {
  const manifest: Manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const externalPackages = Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies });
  rmSync(output, { recursive: true, force: true });
  await build({
    cwd: folder,
    input: getEntries(manifest),
    platform: "neutral",
    // Test suites use the runner of the project that runs them.
    external: (id) =>
      /^(node:|vitest$|fast-check$)/.test(id) ||
      externalPackages.some((name) => id === name || id.startsWith(`${name}/`)),
    output: {
      ...{ dir: output, format: "esm", chunkFileNames: "shared/[name]-[hash].js" },
      // One character beyond Latin-1 doubles the memory of a file, and V8 reads it more slowly.
      charset: "ascii",
      // The sources are published too, with their comments.
      ...{ sourcemap: true, sourcemapExcludeSources: true, comments: { jsdoc: false } },
      codeSplitting: { groups: commonChunks },
    },
    logLevel: "warn",
  });
}

async function main(folder: string): Promise<void> {
  await bundlePackage(folder);
  execFileSync("tsc", ["-p", "tsconfig.build.json"], { cwd: folder, stdio: "inherit" });
}

if (process.argv[1] === import.meta.filename) await main(resolve(process.argv[2] ?? "."));
