import type { Command } from "commander";
import type { ExitCode } from "../exit-code.ts";
import type { Io } from "../io.ts";

/** Where a command leaves what the process is to exit with, when it is all over. */
export type CommandOutcome = { exitCode: ExitCode };

/** Adds one command, or a family of them, to the program. */
export type AddCommand = (program: Command, io: Io, outcome: CommandOutcome) => void;
