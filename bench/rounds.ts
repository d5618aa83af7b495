import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Cell, CellOrder, Effort } from "./cell.ts";
import { measureImport } from "./import.ts";
import { type LoopCell, loopSizes } from "./loop.ts";
import type { WireName } from "./model/wires.ts";
import { type InstallSize, installPeer, measureInstall, type Peer } from "./peers.ts";

export type Plan = {
  readonly peers: readonly Peer[];
  readonly works: readonly string[];
  readonly rounds: number;
  readonly effort: Effort;
};

/** All measurements, with the round of each cell. */
export type Results = {
  readonly plan: Plan;
  readonly cells: readonly (Cell & { readonly round: number })[];
  readonly imports: readonly { readonly peer: string; readonly ms: number }[];
  readonly installs: ReadonlyMap<string, InstallSize>;
  readonly loops: readonly LoopCell[];
  readonly failures: readonly { readonly peer: string; readonly work: string; readonly reason: string }[];
};

type Job = { readonly peer: Peer; readonly work: string; readonly wire: WireName };

const execute = promisify(execFile);
const resolveProgram = (name: string) => join(import.meta.dirname, name);
const writeLine = (line: string) => process.stderr.write(`${line}\n`);

export async function startServer(): Promise<{ origin: string; server: ChildProcess }> {
  const server = spawn(process.execPath, [resolveProgram("server.ts")], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const [port] = await once(server.stdout, "data");
  return { origin: `http://127.0.0.1:${String(port).trim()}`, server };
}

/** Measures all cells in every round, so that temporary noise affects one round rather than one framework. */
export async function measureAll(plan: Plan): Promise<Results> {
  for (const { name } of plan.peers) installPeer(name);
  const { origin, server } = await startServer();
  const results = {
    plan,
    cells: [] as (Cell & { round: number })[],
    imports: [] as { peer: string; ms: number }[],
    installs: new Map<string, InstallSize>(),
    loops: [] as LoopCell[],
    failures: [] as { peer: string; work: string; reason: string }[],
  };
  try {
    for (let round = 0; round < plan.rounds; round++) {
      for (const job of listJobs(plan, round)) {
        const cell = await runCell({ ...job, peer: job.peer.name, origin, effort: plan.effort });
        if ("reason" in cell) results.failures.push({ ...cell, peer: job.peer.name, work: job.work });
        else results.cells.push({ ...cell, round });
        writeLine(
          `round ${round + 1} of ${plan.rounds}: ${formatJob(job)} ${"reason" in cell ? cell.reason : "✓"}`,
        );
      }
      if (plan.works.includes("loop"))
        for (const size of loopSizes) results.loops.push(await runLoopCell(size));
    }
    if (plan.works.includes("import")) results.imports.push(...(await measureImports(plan)));
    if (plan.works.includes("install"))
      for (const { name } of plan.peers) results.installs.set(name, measureInstall(name));
  } finally {
    server.kill();
  }
  return results;
}

/** Orders jobs by work, so that compared cells are measured close together. Each round starts with another framework. */
function listJobs({ peers, works }: Plan, round: number): Job[] {
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

const formatJob = ({ peer, work, wire }: Job) => `${work}, ${peer.title} on ${wire}`;

/** Uses a separate process, so that frameworks do not affect each other. */
async function runCell(order: CellOrder): Promise<Cell | { readonly reason: string }> {
  try {
    const { stdout } = await execute(
      process.execPath,
      ["--expose-gc", resolveProgram("cell.ts"), JSON.stringify(order)],
      { timeout: 300_000, maxBuffer: 100_000_000 },
    );
    return JSON.parse(stdout.trim().split("\n").at(-1) ?? "");
  } catch (error) {
    const { stderr = "", message } = error as Error & { stderr?: string };
    return { reason: /^\w*Error.*$/m.exec(stderr)?.[0] ?? message.split("\n")[0] ?? "it failed" };
  }
}

async function runLoopCell(toolTurns: number): Promise<LoopCell> {
  const { stdout } = await execute(process.execPath, [resolveProgram("loop.ts"), String(toolTurns)]);
  return JSON.parse(stdout);
}

async function measureImports({ peers, rounds }: Plan): Promise<{ peer: string; ms: number }[]> {
  const costs: { peer: string; ms: number }[] = [];
  for (let n = 0; n < rounds * 5; n++)
    for (const peer of peers) costs.push({ peer: peer.name, ms: await measureImport(peer) });
  return costs;
}
