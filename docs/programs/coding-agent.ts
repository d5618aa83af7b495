// A coding agent in the terminal: `npx capstan --config coding-agent.ts`, in the folder to work on.
import { type Config, defineConfig } from "@capstan/cli";
import { fileTools, planTool, shellTool, webFetch } from "@capstan/tools";
import { defineAgent } from "capstan";
import { defaultModel } from "capstan/models";

const folder = process.cwd();

const coder = defineAgent({
  name: "coder",
  model: await defaultModel(),
  instructions: `You are a careful software engineer in the folder ${folder}.
Read the code before you change it. Make small changes, run the tests after each, and say what you did.`,
  // Changes are shown as a diff and commands as they are, and both need your approval.
  tools: [...fileTools({ root: folder }), shellTool({ cwd: folder }), webFetch(), planTool()],
  policy: { maxTurns: 50 },
});

const config: Config = defineConfig({ agents: [coder] });

export default config;
