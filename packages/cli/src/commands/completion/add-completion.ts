import { Argument } from "commander";
import type { AddCommand } from "../command.ts";
import { buildScript, shells } from "./build-script.ts";
import { listCommands } from "./list-commands.ts";

const examples = `
Examples:
  $ capstan completion bash >> ~/.bashrc
  $ capstan completion zsh > "\${fpath[1]}/_capstan"
  $ capstan completion fish > ~/.config/fish/completions/capstan.fish

Start a new shell, type capstan and press Tab.`;

/** Adds `capstan completion`. */
export const addCompletion: AddCommand = (program, io) => {
  program
    .command("completion")
    .description("print a script that completes commands and options in your shell")
    .addArgument(new Argument("<shell>", "the shell").choices(shells))
    .addHelpText("after", examples)
    .action((shell) => void io.stdout.write(buildScript(shell, listCommands(program))));
};
