import { type Command, InvalidArgumentError, Option } from "commander";

/** Shown below the help of the program. */
export const examples = `
Examples:
  $ capstan                                         chat, in a terminal
  $ capstan -p "What is in this folder?"            one answer on stdout
  $ git diff | capstan -p "Write a commit message"  stdin comes before the prompt
  $ capstan -p "Explain @src/main.ts"               @file brings the file along
  $ capstan -p "List the risks" --json | jq .text   the whole result as one object
  $ capstan -c                                      go on with the newest session of this folder
  $ capstan -r ses_1f -p "And now?" --model openai/gpt-5:high
  $ capstan doctor                                  what works, and what to set

Exit codes: 0 done, 1 failed, 2 wrong usage, 3 needs your approval, 4 a limit was reached, 130 interrupted.
Configuration: capstan.config.ts, .mcp.json (both only in folders you trust), CAPSTAN_MODEL, CAPSTAN_DATABASE,
CAPSTAN_HOME, and the keys of providers such as OPENAI_API_KEY; \`capstan models\` lists them.`;

/** Those that every command understands, wherever they stand. */
export function addProgramOptions(program: Command): void {
  program
    .option("-p, --print [prompt]", "answer on stdout and leave; implied without a terminal")
    .addOption(new Option("--json", "the result as one JSON object").conflicts("streamJson"))
    .option("--stream-json", "the events as lines of JSON, as they happen")
    .option("--output-schema <file|json>", "a JSON Schema that the answer must be valid by")
    .option("-c, --continue", "go on with the newest session of this folder")
    .option("-r, --resume [id]", "go on with a session; the beginning of its id will do")
    .option("--fork", "with -c or -r: in a copy, which leaves the session as it is")
    .option("--session-id <id>", "the id of the session, new or known")
    .option("--no-session", "keep nothing: no session, no logs")
    .option("-m, --model <model>", 'provider/model[:effort], such as openai/gpt-5:high, or "offline"')
    .option("--agent <name>", "one of the configuration's agents")
    .option("--system <text>", "instructions in place of the agent's")
    .option("--tools <names>", "which tools, with commas: names, files, web, plan, mcp, or none")
    .addOption(new Option("--approve <how>", "calls that need approval").choices(["ask", "all", "none"]))
    .option("--max-turns <number>", "how often the model may be asked", parseWholeNumber)
    .option("--budget <dollars>", "what the run may cost", parseAmount)
    .option("--mcp-config <file|json>", "more MCP servers, as in .mcp.json")
    .option("--config <file>", "in place of the capstan.config.ts that is found")
    .option("--trust", "trust the folder's capstan.config.ts and .mcp.json, from now on")
    .option("--database <file|url>", "another file, or postgres://…");
}

function parseWholeNumber(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("Give a whole number from 1.");
}

function parseAmount(text: string): number {
  if (/^\d+(?:\.\d+)?$/.test(text)) return Number(text);
  throw new InvalidArgumentError("Give an amount in US dollars, such as 0.50.");
}
