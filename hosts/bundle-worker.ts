import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "rolldown";

/** Bundles `worker.ts` as `wrangler` would, and writes the configuration of `workerd` to the same folder. */
export async function bundleWorker(folder: string, port: number): Promise<string> {
  await build({
    input: join(import.meta.dirname, "worker.ts"),
    platform: "neutral",
    external: [/^node:/, "child_process", "fs", "path"],
    resolve: {
      conditionNames: ["capstan-source", "workerd", "worker", "browser", "import", "default"],
      mainFields: ["module", "main"],
    },
    output: { file: join(folder, "worker.js"), format: "esm", codeSplitting: false },
    logLevel: "silent",
  });
  const file = join(folder, "config.capnp");
  writeFileSync(file, buildConfig(port));
  return file;
}

const buildConfig = (port: number) => `
using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = .worker)],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "main")],
);
const worker :Workerd.Worker = (
  modules = [(name = "worker.js", esModule = embed "worker.js")],
  compatibilityDate = "2026-11-01",
);
`;
