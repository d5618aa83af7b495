import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Cell, Effort, Order } from "./cell.ts";
import { importCost } from "./import.ts";
import { type LoopCell, loopSizes } from "./loop.ts";
import type { WireName } from "./model/wires.ts";
import { type Installed, installedSize, installPeer, type Peer } from "./peers.ts";

export type Plan = {
  readonly peers: readonly Peer[];
  readonly works: readonly string[];
  readonly rounds: number;
  readonly effort: Effort;
};

/** Everything that was measured, cell by cell, each with the round it was measured in. */
export type Results = {
  readonly plan: Plan;
  readonly cells: readonly (Cell & { readonly round: number })[];
  readonly imports: readonly { readonly peer: string; readonly ms: number }[];
  readonly installs: ReadonlyMap<string, Installed>;
  readonly loops: readonly LoopCell[];
  readonly failures: readonly { readonly peer: string; readonly work: string; readonly reason: string }[];
};

type Job = { readonly peer: Peer; readonly work: string; readonly wire: WireName };

const execute = promisify(execFile);
const program = (name: string) => join(import.meta.dirname, name);
const tell = (line: string) => process.stderr.write(`${line}\n`);

export async function startServer(): Promise<{ origin: string; server: ChildProcess }> {
  const server = spawn(process.execPath, [program("server.ts")], { stdio: ["pipe", "pipe", "inherit"] });
  const [port] = await once(server.stdout, "data");
  return { origin: `http://127.0.0.1:${String(port).trim()}`, server };
}

/** Goes through all cells again and again, so that a noisy minute falls on one round and not on one framework. */
export async function measureAll(plan: Plan): Promise<Results> {
  for (const { name } of plan.peers) installPeer(name);
  const { origin, server } = await startServer();
  const results = {
    plan,
    cells: [] as (Cell & { round: number })[],
    imports: [] as { peer: string; ms: number }[],
    installs: new Map<string, Installed>(),
    loops: [] as LoopCell[],
    failures: [] as { peer: string; work: string; reason: string }[],
  };
  try {
    for (let round = 0; round < plan.rounds; round++) {
      for (const job of jobsOf(plan, round)) {
        const cell = await cellOf({ ...job, peer: job.peer.name, origin, effort: plan.effort });
        if ("reason" in cell) results.failures.push({ ...cell, peer: job.peer.name, work: job.work });
        else results.cells.push({ ...cell, round });
        tell(`round ${round + 1} of ${plan.rounds}: ${nameOf(job)} ${"reason" in cell ? cell.reason : "✓"}`);
      }
      if (plan.works.includes("loop")) for (const size of loopSizes) results.loops.push(await loopOf(size));
    }
    if (plan.works.includes("import")) results.imports.push(...(await importsOf(plan)));
    if (plan.works.includes("install"))
      for (const { name } of plan.peers) results.installs.set(name, installedSize(name));
  } finally {
    server.kill();
  }
  return results;
}

/** Work by work, because what is compared should be measured close together; each round begins with another framework. */
function jobsOf({ peers, works }: Plan, round: number): Job[] {
  const isCompared = (wire: WireName) => peers.some((peer) => peer.wire === wire);
  const everyWire = peers.flatMap((peer): Job[] =>
    peer.name === "floor" || peer.name === "capstan"
      ? (["chat", "responses", "anthropic", "gemini"] as const).map((wire) => ({ peer, work: "", wire }))
      : [{ peer, work: "", wire: peer.wire }],
  );
  return works
    .filter((work) => !["import", "install", "loop"].includes(work))
    .flatMap((work) => {
      const jobs = everyWire
        .filter(({ wire }) => work === "burst" || work === "calls" || isCompared(wire))
        .map((job) => ({ ...job, work }));
      const first = (round * 3) % jobs.length;
      return [...jobs.slice(first), ...jobs.slice(0, first)];
    });
}

const nameOf = ({ peer, work, wire }: Job) => `${work}, ${peer.title} on ${wire}`;

/** In a process of its own: what one framework leaves behind weighs on no other. */
async function cellOf(order: Order): Promise<Cell | { readonly reason: string }> {
  try {
    const { stdout } = await execute(
      process.execPath,
      ["--expose-gc", program("cell.ts"), JSON.stringify(order)],
      { timeout: 300_000, maxBuffer: 100_000_000 },
    );
    return JSON.parse(stdout.trim().split("\n").at(-1) ?? "");
  } catch (error) {
    const { stderr = "", message } = error as Error & { stderr?: string };
    return { reason: /^\w*Error.*$/m.exec(stderr)?.[0] ?? message.split("\n")[0] ?? "it failed" };
  }
}

async function loopOf(toolTurns: number): Promise<LoopCell> {
  const { stdout } = await execute(process.execPath, [program("loop.ts"), String(toolTurns)]);
  return JSON.parse(stdout);
}

async function importsOf({ peers, rounds }: Plan): Promise<{ peer: string; ms: number }[]> {
  const costs: { peer: string; ms: number }[] = [];
  for (let n = 0; n < rounds * 5; n++)
    for (const peer of peers) costs.push({ peer: peer.name, ms: await importCost(peer) });
  return costs;
}
