// Measures one cell of the loop benchmark: the CPU time per turn in a run with the given number of tool turns, on a model
// that answers immediately. As a program (`loop.ts 100`) it prints its samples as JSON.
import { defineAgent, defineTool, type Result, run } from "capstan";
import { memory } from "capstan/stores/memory";
import { scriptedModel } from "capstan/testing";

/** Microseconds of CPU time per turn, user and system, all threads. */
export type LoopCell = { readonly toolTurns: number; readonly samples: readonly number[] };

export const loopSizes = [25, 100, 400, 1600] as const;

/** Every sample has about as many turns as the longest run, so that all are equally precise. */
const turnsPerSample = 1600;
const samplesPerCell = 9;
const warmUp = { leastMs: 600, mostMs: 4000, steady: 0.05 };

const answer = "All numbers are squared.";
const square = defineTool({
  name: "square",
  description: "Squares a number",
  input: { type: "object", properties: { number: { type: "integer" } }, required: ["number"] },
  effects: "none",
  execute: ({ number }) => `The square of ${number} is ${number * number}.`,
});

/** Performs one run: `toolTurns` turns with one tool call each, then the answer. Throws if the result is wrong. */
export async function runLoop(toolTurns: number): Promise<Result> {
  const model = scriptedModel(
    (_request, index) =>
      index < toolTurns ? { calls: [{ name: "square", input: { number: index } }] } : { text: answer },
    { record: false },
  );
  const agent = defineAgent({ name: "bench", model, tools: [square], policy: { maxTurns: "unlimited" } });
  // A new store, so that earlier runs do not affect this one.
  const result = await run(agent, "Square the numbers.", { store: memory() });
  const problem = checkLoopResult(result, toolTurns);
  if (problem) throw new Error(`A run of ${toolTurns} tool turns went wrong: ${problem}.`);
  return result;
}

export function checkLoopResult(
  { status, text, turns, toolCalls, history }: Result,
  toolTurns: number,
): string | undefined {
  if (status !== "done" || text !== answer) return `it ended as ${status} with ${JSON.stringify(text)}`;
  if (turns !== toolTurns + 1) return `it took ${turns} turns`;
  if (toolCalls.length !== toolTurns) return `it made ${toolCalls.length} calls`;
  if (history.length !== 2 * toolTurns + 2) return `its history has ${history.length} entries`;
  const wrong = toolCalls.findIndex(({ result }, n) => result !== `The square of ${n} is ${n * n}.`);
  return wrong < 0 ? undefined : `call ${wrong + 1} gave ${JSON.stringify(toolCalls[wrong]?.result)}`;
}

async function measureSample(toolTurns: number): Promise<number> {
  const runs = Math.max(1, Math.round(turnsPerSample / toolTurns));
  const before = process.cpuUsage();
  for (let n = 0; n < runs; n++) await runLoop(toolTurns);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / (runs * (toolTurns + 1));
}

/** Runs until enough time has passed and the samples no longer improve. */
async function warmUpLoop(toolTurns: number): Promise<void> {
  const startedAt = performance.now();
  const costs: number[] = [];
  for (;;) {
    costs.push(await measureSample(toolTurns));
    const ms = performance.now() - startedAt;
    const isSteady =
      costs.length > 6 &&
      Math.min(...costs.slice(-3)) > Math.min(...costs.slice(0, -3)) * (1 - warmUp.steady);
    if ((ms > warmUp.leastMs && isSteady) || ms > warmUp.mostMs) return;
  }
}

export async function measureLoop(toolTurns: number): Promise<LoopCell> {
  await warmUpLoop(toolTurns);
  const samples: number[] = [];
  while (samples.length < samplesPerCell) samples.push(await measureSample(toolTurns));
  return { toolTurns, samples };
}

if (process.argv[1] === import.meta.filename) {
  console.log(JSON.stringify(await measureLoop(Number(process.argv[2]))));
}
