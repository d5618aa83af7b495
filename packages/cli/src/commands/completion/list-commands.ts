import type { Command } from "commander";

/** A word that can be completed, and what it means. */
export type Word = { readonly word: string; readonly about: string };

/** What can follow a command. */
export type CommandWords = {
  /** Names of the command and its parents, such as `["sessions", "list"]`; empty for the program. */
  readonly path: readonly string[];
  readonly subcommands: readonly Word[];
  readonly options: readonly (Word & { readonly choices?: readonly string[] | undefined })[];
  /** Values of the command's first argument, if they are known. */
  readonly choices: readonly string[];
};

/** Returns the program and all its commands. The options of the program are accepted by every command. */
export function listCommands(program: Command): readonly CommandWords[] {
  const globalOptions = listOptions(program);
  const visit = (command: Command, path: readonly string[]): CommandWords[] => {
    const { commands, registeredArguments } = command;
    const own = path.length === 0 ? [] : listOptions(command);
    return [
      {
        path,
        subcommands: commands.map((sub) => ({ word: sub.name(), about: sub.description() })),
        options: [...own, ...globalOptions],
        choices: registeredArguments[0]?.argChoices ?? [],
      },
      ...commands.flatMap((sub) => visit(sub, [...path, sub.name()])),
    ];
  };
  return visit(program, []);
}

function listOptions(command: Command): CommandWords["options"] {
  return command.options.flatMap(({ long, description, argChoices, hidden }) =>
    long === undefined || long === null || hidden
      ? []
      : [{ word: long, about: description, choices: argChoices }],
  );
}
