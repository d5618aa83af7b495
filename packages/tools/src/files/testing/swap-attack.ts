import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { canary, type TemporaryRoot } from "./temporary-root.ts";

// A separate thread, so that the attack does not wait for its target.
const swapper = `
  const { renameSync, rmSync } = require("node:fs");
  const { pairs } = require("node:worker_threads").workerData;
  const move = (from, to) => {
    for (;;) {
      try {
        return renameSync(from, to);
      } catch {
        // A tool has created a folder while the name was free.
        try { rmSync(to, { recursive: true, force: true }); } catch {}
      }
    }
  };
  for (;;) {
    for (const { name, link, real } of pairs) {
      move(name, real);
      move(link, name);
      move(name, link);
      move(real, name);
    }
  }
`;

/** Counts of outcomes. */
export type Tally = { inside: number; refused: number; missing: number; escaped: number; naive: number };

/**
 * Calls tools on `swap` and `file.txt` until `isDone`, while a thread swaps both with links to the outside as fast as it
 * can. `escaped` counts calls that reached the outside, `naive` plain reads by path that did.
 */
export async function runSwapAttack(
  place: TemporaryRoot,
  isDone: (tries: number, tally: Tally) => boolean,
  writeEvery = 5,
): Promise<Tally> {
  place.put("swap/secret.txt", "inside");
  place.put("file.txt", "inside");
  writeFileSync(join(place.outside, "outside-only.txt"), canary);
  symlinkSync(place.outside, join(place.path, "folder-link"));
  symlinkSync(join(place.outside, "secret.txt"), join(place.path, "file-link"));
  mkdirSync(join(place.path, "parked"));
  const at = (name: string) => join(place.path, name);
  const pairs = [
    { name: at("swap"), link: at("folder-link"), real: at("parked/folder") },
    { name: at("file.txt"), link: at("file-link"), real: at("parked/file") },
  ];
  const worker = new Worker(swapper, { eval: true, workerData: { pairs } });
  const tally: Tally = { inside: 0, refused: 0, missing: 0, escaped: 0, naive: 0 };
  try {
    for (let tries = 0; !isDone(tries, tally); tries++) {
      recordOutcome(tally, await tryTool(place, tries, writeEvery));
      tally.naive += await readByPath(at("swap/secret.txt"));
    }
  } finally {
    await worker.terminate();
  }
  return tally;
}

const reads: readonly (readonly [string, object])[] = [
  ["read_file", { path: "swap/secret.txt" }],
  ["read_file", { path: "file.txt" }],
  ["search_files", { query: "CANARY" }],
  ["list_files", { depth: 3 }],
];
const writes: readonly (readonly [string, object])[] = [
  ["write_file", { path: "swap/new.txt", content: "inside" }],
  ["edit_file", { path: "swap/secret.txt", edits: [{ find: "inside", replace: "inside" }] }],
];

async function tryTool(place: TemporaryRoot, tries: number, writeEvery: number): Promise<string> {
  const isWrite = tries % writeEvery === 0;
  const calls = isWrite ? writes : reads;
  const [tool, input] = calls[Math.floor(tries / (isWrite ? writeEvery : 1)) % calls.length] ?? ["", {}];
  try {
    return JSON.stringify(await place.call(tool, input, { runId: `run-${Math.floor(tries / 1000)}` }));
  } catch (error) {
    return JSON.stringify({ code: (error as { code?: string }).code, message: String(error) });
  }
}

function recordOutcome(tally: Tally, outcome: string): void {
  if (outcome.includes("7f3a") || outcome.includes("outside-only")) tally.escaped++;
  else if (outcome.includes('"code":"security"')) tally.refused++;
  else if (outcome.includes('"code"')) tally.missing++;
  else tally.inside++;
}

/** Reads by path, as a naive tool would. Proves that the attack works. */
async function readByPath(path: string): Promise<number> {
  try {
    return (await readFile(path, "utf8")) === canary ? 1 : 0;
  } catch {
    return 0; // the name was free for a moment
  }
}
