import { PassThrough } from "node:stream";
import { agentTool, defineAgent, defineTool, type Result, run } from "capstan";
import { fakeClock, type ScriptedStep, scriptedModel } from "capstan/testing";
import { expect, it } from "vitest";
import type { Io } from "../io.ts";
import type { ScriptOutput } from "./script-output.ts";
import { createTerminalOutput } from "./terminal-output.ts";

/** Stdout and stderr write to the same screen, as in a terminal. */
function createTerminal(): { readonly io: Io; readonly writes: string[]; readonly output: ScriptOutput } {
  const writes: string[] = [];
  const createStream = () =>
    Object.assign(new PassThrough(), {
      isTTY: true,
      columns: 80,
      write: (text: string) => writes.push(text) > 0,
    });
  const io = { stdin: new PassThrough(), stdout: createStream(), stderr: createStream(), env: {}, cwd: "." };
  return { io, writes, output: createTerminalOutput(io) };
}

const nap = defineTool({
  name: "nap",
  description: "Sleeps.",
  input: { type: "object", properties: {} },
  effects: "none",
  execute: () => "slept",
});

async function print(steps: readonly ScriptedStep[]): Promise<readonly string[]> {
  const { writes, output } = createTerminal();
  const agent = defineAgent({ name: "a", model: scriptedModel([...steps]), tools: [nap] });
  const handle = run(agent, "Go", { clock: fakeClock({ skipUpToMs: 60_000 }) });
  for await (const event of handle) output.writeEvent(event);
  output.writeResult(await handle);
  return writes;
}

const base = { runId: "r", sessionId: "s", agent: "a", turn: 1 };

it("each piece of an answer is printed when it arrives", () => {
  const { writes, output } = createTerminal();
  output.writeEvent({ ...base, type: "content_delta", delta: "One " });
  expect(writes).toEqual(["One "]);
  output.writeEvent({ ...base, type: "content_delta", delta: "two." });
  expect(writes).toEqual(["One ", "two."]);
});

it("a streamed answer is printed once, and ends with a line break", async () => {
  expect((await print([{ text: "One two three." }])).join("")).toBe("One two three.\n");
});

it("progress starts on a line of its own, below the text before the call", async () => {
  const writes = await print([
    { text: "I sleep first.", calls: [{ name: "nap", input: {} }] },
    { text: "Done." },
  ]);
  expect(writes.join("")).toMatch(/^I sleep first\.\n· nap \{\}\n· nap done in \d+ ms\nDone\.\n$/);
});

it("text that is discarded is marked as such, and the answer follows below it", async () => {
  const broken: ScriptedStep = { text: "A half", error: "model_overloaded" };
  const shown = (await print([broken, { text: "The whole." }])).join("");
  expect(shown).toContain("A half\n");
  expect(shown).toContain("\n· Discarded the incomplete answer above.\n");
  expect(shown).toMatch(/\nThe whole\.\n$/);
});

it("an answer that was not streamed is printed at the end", async () => {
  const { writes, output } = createTerminal();
  const result = { status: "limit", text: "No answer in time.\n" } as Result;
  output.writeResult(result);
  expect(writes.join("")).toBe("No answer in time.\n");
});

it("a character that is split between two pieces is printed whole, and sequences of the model are removed", () => {
  const { writes, output } = createTerminal();
  for (const delta of ["a\ud83d", "\ude00b\x1b]0;owned\x07", "c"])
    output.writeEvent({ ...base, type: "content_delta", delta });
  expect(writes.join("")).toBe("a😀bc");
});

it("shows background work between the lines of the answer", async () => {
  const { writes, output } = createTerminal();
  const helper = defineAgent({ name: "helper", model: scriptedModel([{ text: "Found." }]) });
  const model = scriptedModel(({ history }) =>
    history.length === 1 ? { calls: [{ name: "helper", input: { prompt: "Look." } }] } : { text: "Known." },
  );
  const agent = defineAgent({ name: "a", model, tools: [agentTool(helper, { background: true })] });
  for await (const event of run(agent, "Go")) output.writeEvent(event);
  const lines = writes.filter((text) => text.startsWith("· helper") && text.includes("background"));
  expect(lines).toEqual(["· helper works in the background.\n", "· helper in the background is done.\n"]);
});
