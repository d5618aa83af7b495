import type { Script } from "./model/script.ts";

/** A measured kind of work. */
export type Work = {
  readonly name: WorkName;
  readonly title: string;
  readonly script: Script;
  /** Number of concurrent runs. */
  readonly together: number;
  /** Figures are divided by `perRun`, the number of units in a run. */
  readonly unit: string;
  readonly perRun: number;
  /** Whether the tool has a zod schema. Default: JSON Schema. */
  readonly hasZodTool?: boolean;
};

export type WorkName =
  | `turns-${number}`
  | `concurrent-${number}`
  | `zod-${number}`
  | "burst"
  | "paced"
  | "calls"
  | "memory";

const defaultScript: Script = {
  toolTurns: 0,
  callsPerTurn: 1,
  fragments: 4,
  textPieces: 12,
  paceMs: 0,
  hangs: false,
};

export const turnCounts = [25, 50, 100, 200, 400] as const;
const runCounts = [200, 1000] as const;

export const works: readonly Work[] = [
  {
    name: "burst",
    title: "text in a burst",
    script: { ...defaultScript, textPieces: 2000 },
    together: 1,
    unit: "µs per piece",
    perRun: 2000,
  },
  {
    name: "paced",
    title: "200 streams, a piece each 5 ms",
    script: { ...defaultScript, textPieces: 120, paceMs: 5 },
    together: 200,
    unit: "µs per piece",
    perRun: 120,
  },
  {
    name: "calls",
    title: "10 turns of 4 calls in 64 fragments",
    script: { ...defaultScript, toolTurns: 10, callsPerTurn: 4, fragments: 64 },
    together: 1,
    unit: "µs per run",
    perRun: 1,
  },
  ...turnCounts.map(
    (toolTurns): Work => ({
      name: `turns-${toolTurns}`,
      title: `${toolTurns} turns of one call`,
      script: { ...defaultScript, toolTurns },
      together: 1,
      unit: "µs per turn",
      perRun: toolTurns + 1,
    }),
  ),
  ...runCounts.map(
    (together): Work => ({
      name: `concurrent-${together}`,
      title: `${together} runs with a tool, at once`,
      script: { ...defaultScript, toolTurns: 1 },
      together,
      unit: "µs per run",
      perRun: 1,
    }),
  ),
  {
    name: "zod-1000",
    title: "1000 runs of 5 turns, 2 calls, zod",
    script: { ...defaultScript, toolTurns: 5, callsPerTurn: 2 },
    together: 1000,
    unit: "µs per run",
    perRun: 1,
    hasZodTool: true,
  },
  {
    name: "memory",
    title: "live memory of a run in flight",
    script: { ...defaultScript, toolTurns: 1, hangs: true },
    together: 500,
    unit: "KB per run",
    perRun: 1,
  },
];

/** The names of all works; the last three need no server. */
export const allWorks: readonly string[] = [...works.map(({ name }) => name), "import", "install", "loop"];

/** Undefined for work that needs no server. */
export function findWork(name: string): Work | undefined {
  const work = works.find((work) => work.name === name);
  if (!work && !allWorks.includes(name))
    throw new Error(`Unknown work "${name}". Known works: ${allWorks.join(", ")}.`);
  return work;
}
