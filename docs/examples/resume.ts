import { spawnSync } from "node:child_process";
import { appendFileSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineAgent, defineTool, type Event, isFact, resume, run } from "capstan";
import { scriptedModel } from "capstan/testing";

// This program starts itself as a second process, which dies in the middle of a tool call.
const isDoomed = process.argv[2] !== undefined;
const file = process.argv[2] ?? join(tmpdir(), `capstan-${process.pid}.jsonl`);

const input = { type: "object", properties: { text: { type: "string" } }, required: ["text"] } as const;
const translate = defineTool({
  name: "translate",
  description: "Translates into Norwegian",
  input,
  effects: "none",
  execute() {
    console.log("translate runs");
    return "God morgen";
  },
});
const post = defineTool({
  name: "post",
  description: "Posts a text for all to see",
  input,
  effects: "send",
  execute() {
    console.log("post runs, and the process dies");
    process.exit(1);
  },
});

const model = scriptedModel(({ history }) => {
  const last = history.at(-1);
  if (last?.type !== "result") return { calls: [{ name: "translate", input: { text: "Good morning" } }] };
  if (last.name === "translate") return { calls: [{ name: "post", input: { text: "God morgen" } }] };
  return { text: `Please look whether it was posted. (${last.status}: ${last.content})` };
});
const agent = defineAgent({ name: "poster", model, tools: [translate, post] });

if (isDoomed) {
  // Called as soon as an event is stored, before the run continues.
  const onEvent = (event: Event) => appendFileSync(file, `${JSON.stringify(event)}\n`);
  await run(agent, "Post good morning in Norwegian.", { hooks: { onEvent } });
} else {
  spawnSync(process.execPath, [...process.execArgv, import.meta.filename, file], { stdio: "inherit" });

  const lines = readFileSync(file, "utf8").trimEnd().split("\n");
  const facts = lines.map((line): Event => JSON.parse(line)).filter(isFact);
  console.log(`${facts.length} facts were left; the last is ${facts.at(-1)?.type}`);

  const result = await resume(agent, facts);
  console.log(result.text);
  rmSync(file);
}
