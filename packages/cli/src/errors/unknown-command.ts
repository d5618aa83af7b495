import type { Command } from "commander";
import { exitCodes } from "../exit-code.ts";
import { harmlessLine } from "../terminal/escape-terminal.ts";

/** Ends with what was probably meant, or with what there is. */
export async function refuseUnknown(
  command: Command,
  word: string,
  known: readonly string[],
): Promise<never> {
  const { suggestName: nearest } = await import("capstan"); // only who mistypes waits for it
  const likely = word === "help" ? ' Did you mean "--help"?' : nearest(word, known);
  const hint = likely || ` The commands are ${known.join(", ")}.`;
  const said = harmlessLine(word);
  const advice = command.parent ? "" : ` To say something, use: capstan -p "${said}"`;
  return command.error(`error: unknown command '${said}'.${hint}${advice}`, {
    code: "commander.unknownCommand",
    exitCode: exitCodes.usage,
  });
}

/** Of a command that has others below it: a word that is none of them is a mistake. */
export async function refuseWords(command: Command): Promise<void> {
  const [word] = command.args;
  if (word === undefined) return;
  await refuseUnknown(
    command,
    word,
    command.commands.map((below) => below.name()),
  );
}
