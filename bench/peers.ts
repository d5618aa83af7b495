import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { WireName } from "./model/wires.ts";

/** A measured framework; its folder is `peers/<name>`. */
export type Peer = {
  readonly name: string;
  readonly title: string;
  /** The imports for an agent with one model client. */
  readonly imports: readonly string[];
  /** The wire it is compared on: `chat` if supported. */
  readonly wire: WireName;
};

export const peers: readonly Peer[] = [
  { name: "floor", title: "floor", imports: [], wire: "chat" },
  { name: "capstan", title: "Capstan", imports: ["capstan", "capstan/models/openai"], wire: "chat" },
  { name: "ai-sdk", title: "AI SDK", imports: ["ai", "@ai-sdk/openai"], wire: "chat" },
  { name: "openai-agents", title: "OpenAI Agents", imports: ["@openai/agents"], wire: "chat" },
  { name: "mastra", title: "Mastra", imports: ["@mastra/core/agent", "@mastra/core/tools"], wire: "chat" },
  { name: "langgraph", title: "LangGraph", imports: ["langchain", "@langchain/openai"], wire: "chat" },
  {
    name: "strands",
    title: "Strands",
    imports: ["@strands-agents/sdk", "@strands-agents/sdk/models/openai"],
    wire: "responses",
  },
  {
    name: "pi",
    title: "pi",
    imports: ["@mariozechner/pi-agent-core", "@mariozechner/pi-ai"],
    wire: "chat",
  },
];

export const getPeerFolder = (name: string): string => join(import.meta.dirname, "peers", name);

export function getPeer(name: string): Peer {
  const peer = peers.find((peer) => peer.name === name);
  if (!peer)
    throw new Error(`Unknown peer "${name}". Known peers: ${peers.map(({ name }) => name).join(", ")}.`);
  return peer;
}

const npmFlags = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];

/** Frameworks outside this workspace have their own node_modules, installed on first use. */
export function installPeer(name: string): void {
  const cwd = getPeerFolder(name);
  if (!existsSync(join(cwd, "package.json")) || existsSync(join(cwd, "node_modules"))) return;
  process.stderr.write(`installing ${name}\n`);
  execFileSync("npm", ["ci", ...npmFlags], { cwd, stdio: ["ignore", "ignore", "inherit"] });
}

/** Size of node_modules after installing a framework. */
export type InstallSize = { readonly packages: number; readonly megabytes: number };

export function measureInstall(name: string): InstallSize {
  if (name === "floor") return { packages: 0, megabytes: 0 };
  if (name !== "capstan") return measureFolder(join(getPeerFolder(name), "node_modules"));
  // Capstan as users get it: packed, then installed in an empty project.
  const project = mkdtempSync(join(tmpdir(), "capstan-install-"));
  try {
    const packed = execFileSync("npm", ["pack", "--pack-destination", project, ...npmFlags], {
      cwd: join(import.meta.dirname, "../packages/capstan"),
      encoding: "utf8",
    });
    writeFileSync(join(project, "package.json"), '{ "private": true }');
    execFileSync("npm", ["install", `./${packed.trim()}`, ...npmFlags], { cwd: project });
    return measureFolder(join(project, "node_modules"));
  } finally {
    rmSync(project, { recursive: true, force: true });
  }
}

function measureFolder(modules: string): InstallSize {
  let [packages, bytes] = [0, 0];
  for (const entry of readdirSync(modules, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    bytes += statSync(join(entry.parentPath, entry.name)).size;
    if (entry.name === "package.json" && /node_modules\/(?:@[^/]+\/)?[^/]+$/.test(entry.parentPath))
      packages += 1;
  }
  return { packages, megabytes: bytes / 1e6 };
}

/** The measured packages with their versions. */
export function formatVersions(name: string): string {
  const file = join(getPeerFolder(name), "package.json");
  if (!existsSync(file)) return name === "capstan" ? "this tree" : "no package";
  const { dependencies } = JSON.parse(readFileSync(file, "utf8")) as { dependencies: Record<string, string> };
  return Object.entries(dependencies)
    .map(([name, version]) => `${name} ${version}`)
    .join(", ");
}
