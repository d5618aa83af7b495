import type { Command } from "commander";
import { exitCodes } from "../exit-code.ts";
import { escapeTerminalLine } from "../terminal/escape-terminal.ts";

/** Ends with what was probably meant, or with what there is. */
export async function rejectUnknownCommand(
  command: Command,
  word: string,
  known: readonly string[],
): Promise<never> {
  const { suggestName } = await import("capstan"); // only who mistypes waits for it
  const suggestion = word === "help" ? ' Did you mean "--help"?' : suggestName(word, known);
  const hint = suggestion || ` The commands are ${known.join(", ")}.`;
  const escapedWord = escapeTerminalLine(word);
  const advice = command.parent ? "" : ` To say something, use: capstan -p "${escapedWord}"`;
  return command.error(`error: unknown command '${escapedWord}'.${hint}${advice}`, {
    code: "commander.unknownCommand",
    exitCode: exitCodes.usage,
  });
}

/** Of a command that has others below it: a word that is none of them is a mistake. */
export async function rejectArguments(command: Command): Promise<void> {
  const [word] = command.args;
  if (word === undefined) return;
  await rejectUnknownCommand(
    command,
    word,
    command.commands.map((subcommand) => subcommand.name()),
  );
}
