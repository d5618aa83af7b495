import { rejectArguments } from "../../errors/unknown-command.ts";
import type { AddCommand } from "../command.ts";

const examples = `
Examples:
  $ capstan memory                                    what agents remember, the newest first
  $ capstan memory list coffee oslo                   with words that start with these
  $ capstan memory show /memories/notes.md
  $ capstan memory delete /memories/notes.md
  $ capstan memory delete --all --user alice --yes    everything about a user of the server

Agents write memories with the tools \`memory\`: pass --tools memory, or list "memory" in the config.`;

/** Adds `capstan memory`. */
export const addMemory: AddCommand = (program, io) => {
  const actions = () => import("./memory-actions.ts");
  const memory = program
    .command("memory")
    .description("list, show and delete what agents remember across sessions")
    .addHelpText("after", examples)
    .allowExcessArguments()
    .action(async (_options, command) => {
      await rejectArguments(command);
      await (await actions()).listMemory([], command.optsWithGlobals(), io);
    });
  memory
    .command("list")
    .alias("ls")
    .description("list memories, or find them by words")
    .argument("[words...]")
    .option("--user <name>", "of this user of the server")
    .option("--scope <scope>", "user, agent:<name> or project:<name>")
    .option("--json", "print a JSON list")
    .action(async (words, _options, command) =>
      (await actions()).listMemory(words, command.optsWithGlobals(), io),
    );
  memory
    .command("show")
    .description("print a memory")
    .argument("<path>")
    .option("--user <name>", "of this user of the server")
    .option("--scope <scope>", "user, agent:<name> or project:<name>", "user")
    .option("--json", "print a JSON object")
    .action(async (path, _options, command) =>
      (await actions()).showMemory(path, command.optsWithGlobals(), io),
    );
  memory
    .command("delete")
    .alias("rm")
    .description("delete a memory or a folder of them, or all memories of a user")
    .argument("[path]")
    .option("--all", "all memories of the user, or of --scope")
    .option("--user <name>", "of this user of the server")
    .option("--scope <scope>", "user, agent:<name> or project:<name>")
    .option("--yes", "do not ask")
    .action(async (path, _options, command) =>
      (await actions()).deleteMemory(path, command.optsWithGlobals(), io),
    );
};
