import { existsSync } from "node:fs";
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

// Skills are instructions that the agent loads when a task fits: see skills/countdown/SKILL.md.
export default defineConfig({ agents: [assistant], skills: ["./skills"] });
