import type { Command } from "commander";
import { exitCodes } from "../exit-code.ts";
import { harmlessLine } from "../terminal/harmless.ts";
import { nearestName } from "./nearest-name.ts";

/** Ends with what was probably meant, or with what there is. */
export function refuseUnknown(command: Command, word: string, known: readonly string[]): never {
  const hint = nearestName(word, known) || ` The commands are ${known.join(", ")}.`;
  const said = harmlessLine(word);
  const advice = command.parent ? "" : ` To say something, use: capstan -p "${said}"`;
  return command.error(`error: unknown command '${said}'.${hint}${advice}`, {
    code: "commander.unknownCommand",
    exitCode: exitCodes.usage,
  });
}

/** Of a command that has others below it: a word that is none of them is a mistake. */
export function refuseWords(command: Command): void {
  const [word] = command.args;
  if (word === undefined) return;
  refuseUnknown(
    command,
    word,
    command.commands.map((below) => below.name()),
  );
}
