import type { Command } from "commander";
import type { ExitCode } from "../exit-code.ts";
import type { Io } from "../io.ts";

/** Set by a command; becomes the exit code of the process. */
export type CommandOutcome = { exitCode: ExitCode };

/** Adds a command, or a command with subcommands, to the program. */
export type AddCommand = (program: Command, io: Io, outcome: CommandOutcome) => void;
