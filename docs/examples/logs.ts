import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineAgent, defineTool, run } from "capstan";
import { readableLog } from "capstan/logs";
import { fileLogs } from "capstan/logs/file";
import { scriptedModel } from "capstan/testing";

const apiKey = "sk-example-0123456789";

const balance = defineTool({
  name: "balance",
  description: "What is in the account",
  input: { type: "object" },
  execute: () => ({ error: `Incorrect API key provided: ${apiKey}` }),
});

const model = scriptedModel([
  { reasoning: "I have to look.", calls: [{ name: "balance" }] },
  { text: "I cannot see your account at the moment." },
]);
const agent = defineAgent({ name: "teller", model, tools: [balance] });

const directory = mkdtempSync(join(tmpdir(), "capstan-logs-"));

const secrets = [apiKey];
const files = fileLogs({ directory, secrets });
const people = readableLog((line) => process.stderr.write(line), { secrets });

await run(agent, "What do I have?", {
  session: "monday",
  hooks: {
    onEvent(event) {
      files(event);
      people(event);
    },
  },
});
await files.close();

const folder = join(directory, "monday");
const names = readdirSync(folder).sort();
console.log(names.join(" "));
const texts = names.map((name) => readFileSync(join(folder, name), "utf8"));
console.log(`the key is in ${texts.filter((text) => text.includes(apiKey)).length} of them`);
console.log(texts.at(-1));
rmSync(directory, { recursive: true });
