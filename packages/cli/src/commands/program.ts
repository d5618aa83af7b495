import { Command, CommanderError } from "commander";
import { formatError, getExitCode } from "../errors/format-error.ts";
import { rejectUnknownCommand } from "../errors/unknown-command.ts";
import { type ExitCode, exitCodes } from "../exit-code.ts";
import type { Io } from "../io.ts";
import { escapeTerminal } from "../terminal/escape-terminal.ts";
import { version } from "../version.ts";
import type { AddCommand, CommandOutcome } from "./command.ts";
import { addProgramOptions, examples } from "./program-options.ts";

/** The file of a command is loaded only when the command line names it, or asks what there is. */
const commands: { readonly [name: string]: () => Promise<AddCommand> } = {
  sessions: async () => (await import("./sessions/add-sessions.ts")).addSessions,
  replay: async () => (await import("./replay/add-replay.ts")).addReplay,
  export: async () => (await import("./export/add-export.ts")).addExport,
  models: async () => (await import("./models/add-models.ts")).addModels,
  doctor: async () => (await import("./doctor/add-doctor.ts")).addDoctor,
  keys: async () => (await import("./keys/add-keys.ts")).addKeys,
  init: async () => (await import("../init/add-init.ts")).addInit,
  dev: async () => (await import("../serve/add-dev.ts")).addDev,
  serve: async () => (await import("../serve/add-serve.ts")).addServe,
  mcp: async () => (await import("../mcp-config/add-mcp.ts")).addMcp,
  acp: async () => (await import("../acp/add-acp.ts")).addAcp,
};

/** Runs the command that the arguments name; without one, the chat or a script. Never rejects. */
export async function runProgram(argv: readonly string[], io: Io): Promise<ExitCode> {
  const outcome: CommandOutcome = { exitCode: exitCodes.ok };
  try {
    const program = await createProgram(argv, io, outcome);
    await program.parseAsync(argv, { from: "user" });
    return outcome.exitCode;
  } catch (error) {
    // Its words are on stderr already, or on stdout where they were asked for.
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
    io.stderr.write(`capstan: ${escapeTerminal(formatError(error, io.env))}\n`);
    return getExitCode(error);
  }
}

async function createProgram(argv: readonly string[], io: Io, outcome: CommandOutcome): Promise<Command> {
  const program = new Command("capstan")
    .description("An agent in your terminal: chat, scripts, sessions, a server, MCP.")
    .version(version, "-V, --version", "show the version")
    .helpOption("-h, --help", "show this, or how a command is used")
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void io.stdout.write(text),
      writeErr: (text) => void io.stderr.write(text),
      getOutHelpWidth: () => io.stdout.columns ?? 80,
      getErrHelpWidth: () => io.stderr.columns ?? 80,
    })
    .showHelpAfterError("Run with --help to see how it is used.")
    .argument("[prompt...]", "what to say first: more than one word, in quotes")
    .addHelpText("after", examples)
    .action(async (words: string[], options) => {
      const prompt = await getPrompt(program, words, options);
      const { start } = await import("./start.ts");
      outcome.exitCode = await start({ ...options, ...(prompt !== undefined && { prompt }) }, io);
    });
  addProgramOptions(program);
  const isHelp = argv.some((word) => word === "help" || word === "--help" || word === "-h");
  const names = Object.keys(commands);
  const namedCommands = names.filter((name) => argv.includes(name));
  for (const name of namedCommands.length > 0 ? namedCommands : isHelp ? names : [])
    (await commands[name]?.())?.(program, io, outcome);
  return program;
}

/** A single word is far more often a misspelt command than something to say. */
async function getPrompt(
  program: Command,
  words: readonly string[],
  options: { print?: unknown },
): Promise<string | undefined> {
  const [first] = words;
  if (first === undefined) return undefined;
  if (options.print === undefined && !/\s/.test(first))
    await rejectUnknownCommand(program, first, Object.keys(commands));
  return words.join(" ");
}
