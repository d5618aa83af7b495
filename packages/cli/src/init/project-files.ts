// The files of a new project. The release test installs the packed tarballs into such a project and runs it.

/** Values that differ between projects. */
export type ProjectOptions = {
  readonly name: string;
  /** Version of our packages; all share one. */
  readonly version: string;
};

/** Returns path and text of each file, in reading order. */
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

// Keep keys out of the code and the repository: see .env.example.
const keys = new URL(".env", import.meta.url);
if (existsSync(keys)) process.loadEnvFile(keys);

const assistant = defineAgent({
  name: "assistant",
  // The first provider that is set up, a local server, or the offline model. Or name one: "openai/gpt-5-mini".
  model: await defaultModel(),
  instructions: "You are a friendly assistant. Count days with the tool, never in your head.",
  tools: [daysBetween],
});

export default defineConfig({ agents: [assistant] });
`;

const tool = `import { defineTool } from "capstan";

/** Models miscount dates; a tool does not. */
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
  // Example prompts. Every model sees them; the offline model matches sentences against them.
  examples: [
    { phrase: "How many days are there from {from} to {to}?" },
    { phrase: "Days between {from} and {to}" },
  ],
  // A pure computation: safe to repeat, needs no approval.
  effects: "none",
  execute: ({ from, to }) => ({ days: (Date.parse(to) - Date.parse(from)) / 86_400_000 }),
});
`;

const test = `import assert from "node:assert/strict";
import { test } from "node:test";
import { defineAgent, run } from "capstan";
import { scriptedModel } from "capstan/testing";
import { daysBetween } from "./days-between.ts";

test("the agent counts days with the tool and answers", async () => {
  // A scripted model: no key, no network, deterministic.
  const model = scriptedModel([
    { calls: [{ name: "days_between", input: { from: "2026-11-15", to: "2026-12-24" } }] },
    { text: "39 days." },
  ]);
  const agent = defineAgent({ name: "assistant", model, tools: [daysBetween] });
  const result = await run(agent, "How long until 24 December?");
  assert.equal(result.toolCalls[0]?.result, '{"days":39}');
  assert.equal(result.text, "39 days.");
});

test("an invalid date is rejected with a message for the model", async () => {
  const model = scriptedModel([
    { calls: [{ name: "days_between", input: { from: "today", to: "2026-12-24" } }] },
    { text: "Which day is it?" },
  ]);
  const agent = defineAgent({ name: "assistant", model, tools: [daysBetween] });
  const result = await run(agent, "How long until 24 December?");
  assert.match(String(result.toolCalls[0]?.result), /does not match format "date"/);
});
`;

const environment = `# Copy this file to .env, which is not committed, and set one of the keys. Without a key the offline model answers.
OPENAI_API_KEY=
ANTHROPIC_API_KEY=
GEMINI_API_KEY=
# Model to use when several are available: provider/model
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

An agent with one tool, built with Capstan. The agent is in \`capstan.config.ts\`, its tool and a test are in \`tools/\`. Node 22.19 or later runs it without a build.

\`\`\`sh
npm install
npm test           # tests the agent and its tool without a key or network
npx capstan        # chat with it; try: How many days are there from 2026-11-15 to 2026-12-24?
npx capstan dev    # serve it on 127.0.0.1 and reload when a file changes
\`\`\`

Without a key the offline model answers: rules, not AI. For a real model, copy \`.env.example\` to \`.env\` and set a key.
`;
}
