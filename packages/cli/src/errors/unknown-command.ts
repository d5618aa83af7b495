import type { Command } from "commander";
import { exitCodes } from "../exit-code.ts";
import { escapeTerminalLine } from "../terminal/escape-terminal.ts";

/** Exits with a usage error that suggests the nearest command, or lists all. */
export async function rejectUnknownCommand(
  command: Command,
  word: string,
  known: readonly string[],
): Promise<never> {
  const { suggestName } = await import("capstan"); // loaded lazily: only needed here
  const suggestion = word === "help" ? ' Did you mean "--help"?' : suggestName(word, known);
  const hint = suggestion || ` The commands are ${known.join(", ")}.`;
  const escapedWord = escapeTerminalLine(word);
  const advice = command.parent ? "" : ` To send a prompt, use: capstan -p "${escapedWord}"`;
  return command.error(`error: unknown command '${escapedWord}'.${hint}${advice}`, {
    code: "commander.unknownCommand",
    exitCode: exitCodes.usage,
  });
}

/** Rejects the arguments of a command that only has subcommands. */
export async function rejectArguments(command: Command): Promise<void> {
  const [word] = command.args;
  if (word === undefined) return;
  await rejectUnknownCommand(
    command,
    word,
    command.commands.map((subcommand) => subcommand.name()),
  );
}
