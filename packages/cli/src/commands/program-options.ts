import type { Effort } from "capstan";
import { type Command, InvalidArgumentError, Option } from "commander";
import { effortHint, parseEffort } from "../workspace/parse-effort.ts";

/** Shown below the help text. */
export const examples = `
Examples:
  $ capstan                                         chat, in a terminal
  $ capstan -p "What is in this folder?"            one answer on stdout
  $ git diff | capstan -p "Write a commit message"  stdin is put before the prompt
  $ capstan -p "Explain @src/main.ts"               @file attaches the file
  $ capstan -p "List the risks" --json | jq .text   the full result as one object
  $ capstan -c                                      continue the most recent session in this folder
  $ capstan -r ses_1f -p "And now?" --model openai/gpt-5:high
  $ capstan doctor                                  check the setup

Exit codes: 0 done, 1 failed, 2 invalid usage, 3 approval needed, 4 limit reached, 130 interrupted.
Configuration: capstan.config.ts, .mcp.json (both only as you have trusted them), CAPSTAN_MODEL, CAPSTAN_DATABASE,
CAPSTAN_HOME, and provider keys such as OPENAI_API_KEY; \`capstan models\` lists them.`;

/** Options that every command accepts, in any position. */
export function addProgramOptions(program: Command): void {
  program
    .option("-p, --print [prompt]", "print the answer and exit; implied without a terminal")
    .addOption(new Option("--json", "print the result as one JSON object").conflicts("streamJson"))
    .option("--stream-json", "print events as JSON lines while they happen")
    .option("--output-schema <file|json>", "JSON Schema that the answer must match")
    .option("--save-media <folder>", "with -p: save generated images and audio in this folder")
    .option("-c, --continue", "continue the most recent session in this folder")
    .option("-r, --resume [id]", "resume a session; a prefix of its id is enough")
    .option("--fork", "with -c or -r: continue in a copy of the session")
    .option("--session-id <id>", "id of a new or existing session")
    .option("--no-session", "store nothing: no session, no logs")
    .option("-m, --model <model>", 'provider/model[:effort], such as openai/gpt-5:high, or "offline"')
    .option(
      "--effort <level>",
      "how much the model reasons: none, low, medium, high, xhigh, max, or tokens",
      readEffort,
    )
    .option("--temperature <number>", "how varied the answers are, from 0 to 2", parseTemperature)
    .option("--agent <name>", "agent from the config")
    .option("--system <text>", "replace the agent's instructions")
    .option("--tools <names>", "comma-separated tools: names, files, web, plan, shell, memory, mcp, or none")
    .addOption(
      new Option("--approve <how>", "what to do with calls that need approval").choices([
        "ask",
        "all",
        "none",
      ]),
    )
    .option("--max-turns <number>", "maximum number of model calls", parseWholeNumber)
    .option("--budget <dollars>", "maximum cost of the run", parseAmount)
    .option("--mcp-config <file|json>", "more MCP servers, in the format of .mcp.json")
    .option("--config <file>", "use this file instead of the nearest capstan.config.ts")
    .option("--trust", "trust capstan.config.ts and .mcp.json of this folder, as they are now")
    .option("--database <file|url>", "database file or postgres:// URL");
}

function parseWholeNumber(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("Must be a whole number of at least 1.");
}

function readEffort(text: string): Effort {
  const effort = parseEffort(text);
  if (effort !== undefined) return effort;
  throw new InvalidArgumentError(effortHint);
}

function parseTemperature(text: string): number {
  if (/^\d+(?:\.\d+)?$/.test(text) && Number(text) <= 2) return Number(text);
  throw new InvalidArgumentError("Must be a number from 0 to 2.");
}

function parseAmount(text: string): number {
  if (/^\d+(?:\.\d+)?$/.test(text)) return Number(text);
  throw new InvalidArgumentError("Must be an amount in US dollars, such as 0.50.");
}
