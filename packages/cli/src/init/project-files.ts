// The files of a new project. The packed tarballs are tested with them: they are installed, run and tested as they are.

/** What differs from project to project. */
export type ProjectOptions = {
  readonly name: string;
  /** Of our packages: all have the same one. */
  readonly version: string;
};

/** Path and text of each file, in the order in which a person would read them. */
export function buildProjectFiles(
  options: ProjectOptions,
): readonly (readonly [path: string, text: string])[] {
  return [
    ["README.md", buildReadme(options)],
    ["package.json", buildManifest(options)],
    ["capstan.config.ts", config],
    ["tools/days-between.ts", tool],
    ["tools/days-between.test.ts", test],
    [".env.example", environment],
    [".gitignore", ignored],
    ["tsconfig.json", compiler],
  ];
}

function buildManifest({ name, version }: ProjectOptions): string {
  const content = {
    name,
    version: "0.0.0",
    private: true,
    type: "module",
    engines: { node: ">=22.19" },
    scripts: { chat: "capstan", dev: "capstan dev", test: "node --test" },
    dependencies: { "@capstan/cli": version, capstan: version },
    devDependencies: { "@types/node": "24.19.2" },
  };
  return `${JSON.stringify(content, undefined, 2)}\n`;
}

const config = `import { existsSync } from "node:fs";
import { defineConfig } from "@capstan/cli";
import { defineAgent } from "capstan";
import { defaultModel } from "capstan/models";
import { daysBetween } from "./tools/days-between.ts";

// Keys stay out of the code and out of the repository: see .env.example.
const keys = new URL(".env", import.meta.url);
if (existsSync(keys)) process.loadEnvFile(keys);

const assistant = defineAgent({
  name: "assistant",
  // The first provider with a key, a local Ollama, or the offline model. Or say which: "openai/gpt-5-mini".
  model: await defaultModel(),
  instructions: "You are a friendly assistant. Count days with the tool, never in your head.",
  tools: [daysBetween],
});

export default defineConfig({ agents: [assistant] });
`;

const tool = `import { defineTool } from "capstan";

/** Models count badly; a tool does not. */
export const daysBetween = defineTool({
  name: "days_between",
  description: "Counts the days from one date to another.",
  input: {
    type: "object",
    properties: {
      from: { type: "string", format: "date", description: "such as 2026-01-31" },
      to: { type: "string", format: "date" },
    },
    required: ["from", "to"],
  },
  // What a person might say. Every model is shown them; the offline model understands sentences by them.
  examples: [
    { phrase: "How many days are there from {from} to {to}?" },
    { phrase: "Days between {from} and {to}" },
  ],
  // It only computes, so it may be run again and needs nobody's approval.
  effects: "none",
  execute: ({ from, to }) => ({ days: (Date.parse(to) - Date.parse(from)) / 86_400_000 }),
});
`;

const test = `import assert from "node:assert/strict";
import { test } from "node:test";
import { defineAgent, run } from "capstan";
import { scriptedModel } from "capstan/testing";
import { daysBetween } from "./days-between.ts";

test("an agent counts days with the tool, and answers", async () => {
  // A model that says what the test wants: no key, no network, the same every time.
  const model = scriptedModel([
    { calls: [{ name: "days_between", input: { from: "2026-11-15", to: "2026-12-24" } }] },
    { text: "39 days." },
  ]);
  const agent = defineAgent({ name: "assistant", model, tools: [daysBetween] });
  const result = await run(agent, "How long until 24 December?");
  assert.equal(result.toolCalls[0]?.result, '{"days":39}');
  assert.equal(result.text, "39 days.");
});

test("what is no date is refused, in words that the model can read", async () => {
  const model = scriptedModel([
    { calls: [{ name: "days_between", input: { from: "today", to: "2026-12-24" } }] },
    { text: "Which day is it?" },
  ]);
  const agent = defineAgent({ name: "assistant", model, tools: [daysBetween] });
  const result = await run(agent, "How long until 24 December?");
  assert.match(String(result.toolCalls[0]?.result), /does not match format "date"/);
});
`;

const environment = `# Copy this file to .env, which is not committed, and fill in one of them. Without any, the offline model answers.
OPENAI_API_KEY=
ANTHROPIC_API_KEY=
GEMINI_API_KEY=
# Which model to use, where several would do: provider/model
CAPSTAN_MODEL=
`;

const ignored = `node_modules/
.env
*.log
`;

const compiler = `{
  "compilerOptions": {
    "target": "es2024",
    "module": "nodenext",
    "types": ["node"],
    "strict": true,
    "noUncheckedIndexedAccess": true,
    "verbatimModuleSyntax": true,
    "erasableSyntaxOnly": true,
    "allowImportingTsExtensions": true,
    "skipLibCheck": true,
    "noEmit": true
  }
}
`;

function buildReadme({ name }: ProjectOptions): string {
  return `# ${name}

An agent with one tool, made with Capstan. The agent is in \`capstan.config.ts\`, its tool in \`tools/\`, with a test. Node 22.19 or later runs it as it is: there is no build.

\`\`\`sh
npm install
npm test           # the agent and its tool, without a key or a network
npx capstan        # chat with it; try: How many days are there from 2026-11-15 to 2026-12-24?
npx capstan dev    # serve it on 127.0.0.1 and reload when a file changes
\`\`\`

Without a key the offline model answers: rules, not AI. For a real one copy \`.env.example\` to \`.env\` and fill in a key.
`;
}
