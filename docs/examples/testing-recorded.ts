import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AgentError, defineAgent, run } from "capstan";
import { recorded } from "capstan/models";
import { scriptedModel } from "capstan/testing";

const folder = mkdtempSync(join(tmpdir(), "capstan-recorded-"));
const file = join(folder, "capital.jsonl");

// Once, with a real model and its API key: the response is recorded next to the test.
const real = scriptedModel([{ text: "Oslo." }]);
await run(defineAgent({ name: "atlas", model: recorded(real, file) }), "Capital of Norway?");
console.log(`${readFileSync(file, "utf8").trimEnd().split("\n").length} answer is recorded`);

// Later runs need neither key nor network.
const replayed = recorded(undefined, file, { mode: "replay" });
const atlas = defineAgent({ name: "atlas", model: replayed });
console.log((await run(atlas, "Capital of Norway?")).text);

// If the question, the instructions or a tool change, the error says what differs.
const changed = await run(atlas, "Capital of Sweden?");
try {
  changed.orThrow();
} catch (error) {
  if (error instanceof AgentError) console.log(error.message.split(": ").at(-1)?.split(". ")[0]);
}
rmSync(folder, { recursive: true });
