import { existsSync } from "node:fs";
import { join } from "node:path";
import { defineConfig } from "@capstan/cli";
import { fileTools, planTool, shellTool } from "@capstan/tools";
import { defineAgent } from "capstan";
import { dataFolder } from "capstan/data-folder";
import { defaultModel } from "capstan/models";

// Keep keys out of the code and the repository: see .env.example.
const keys = new URL(".env", import.meta.url);
if (existsSync(keys)) process.loadEnvFile(keys);

const folder = process.cwd();
const undo = { folder: join(dataFolder(), "file-changes") };

export const coder = defineAgent({
  name: "coder",
  model: await defaultModel(),
  instructions: `You are a careful software engineer in the folder ${folder}.
Read the code before you change it. Make small changes, run the tests after each, and say what you did.`,
  tools: [...fileTools({ root: folder, undo }), shellTool({ cwd: folder }), planTool()],
  policy: { maxTurns: 50 },
});

export default defineConfig({ agents: [coder] });
