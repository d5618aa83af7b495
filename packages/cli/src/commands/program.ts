import { Command, CommanderError } from "commander";
import { formatError, getExitCode } from "../errors/format-error.ts";
import { rejectUnknownCommand } from "../errors/unknown-command.ts";
import { type ExitCode, exitCodes } from "../exit-code.ts";
import type { Io } from "../io.ts";
import { escapeTerminal } from "../terminal/escape-terminal.ts";
import { version } from "../version.ts";
import type { AddCommand, CommandOutcome } from "./command.ts";
import { addProgramOptions, examples } from "./program-options.ts";

/** Loaded lazily: only when the command line names the command or asks for help. */
const commands: { readonly [name: string]: () => Promise<AddCommand> } = {
  sessions: async () => (await import("./sessions/add-sessions.ts")).addSessions,
  memory: async () => (await import("./memory/add-memory.ts")).addMemory,
  schedule: async () => (await import("./schedule/add-schedule.ts")).addSchedule,
  replay: async () => (await import("./replay/add-replay.ts")).addReplay,
  export: async () => (await import("./export/add-export.ts")).addExport,
  backup: async () => (await import("./backup/add-backup.ts")).addBackup,
  restore: async () => (await import("./backup/add-restore.ts")).addRestore,
  eval: async () => (await import("./eval/add-eval.ts")).addEval,
  models: async () => (await import("./models/add-models.ts")).addModels,
  doctor: async () => (await import("./doctor/add-doctor.ts")).addDoctor,
  quotas: async () => (await import("./quotas/add-quotas.ts")).addQuotas,
  keys: async () => (await import("./keys/add-keys.ts")).addKeys,
  skills: async () => (await import("./skills/add-skills.ts")).addSkills,
  app: async () => (await import("./app/add-app.ts")).addApp,
  init: async () => (await import("../init/add-init.ts")).addInit,
  dev: async () => (await import("../serve/add-dev.ts")).addDev,
  serve: async () => (await import("../serve/add-serve.ts")).addServe,
  worker: async () => (await import("../serve/add-worker.ts")).addWorker,
  mcp: async () => (await import("../mcp-config/add-mcp.ts")).addMcp,
  acp: async () => (await import("../acp/add-acp.ts")).addAcp,
  completion: async () => (await import("./completion/add-completion.ts")).addCompletion,
};

/** Runs the command named by the arguments, or else the chat or a one-shot run. Never rejects. */
export async function runProgram(argv: readonly string[], io: Io): Promise<ExitCode> {
  const outcome: CommandOutcome = { exitCode: exitCodes.ok };
  try {
    const program = await createProgram(argv, io, outcome);
    await program.parseAsync(argv, { from: "user" });
    return outcome.exitCode;
  } catch (error) {
    // Commander has already written its message, to stderr or (for help) to stdout.
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
    io.stderr.write(`capstan: ${escapeTerminal(formatError(error, io.env))}\n`);
    return getExitCode(error);
  }
}

async function createProgram(argv: readonly string[], io: Io, outcome: CommandOutcome): Promise<Command> {
  const program = new Command("capstan")
    .description("An agent in your terminal: chat, scripts, sessions, server, MCP.")
    .version(version, "-V, --version", "show the version")
    .helpOption("-h, --help", "show help for capstan or a command")
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void io.stdout.write(text),
      writeErr: (text) => void io.stderr.write(text),
      getOutHelpWidth: () => io.stdout.columns ?? 80,
      getErrHelpWidth: () => io.stderr.columns ?? 80,
    })
    .showHelpAfterError("Run with --help for usage.")
    .argument("[prompt...]", "first message, quoted when it has several words")
    .addHelpText("after", examples)
    .action(async (words: string[], options) => {
      const prompt = await getPrompt(program, words, options);
      const { start } = await import("./start.ts");
      outcome.exitCode = await start({ ...options, ...(prompt !== undefined && { prompt }) }, io);
    });
  addProgramOptions(program);
  const isHelp = argv.some((word) => word === "help" || word === "--help" || word === "-h");
  const names = Object.keys(commands);
  // A script for completion contains all commands.
  const namedCommands = argv.includes("completion") ? names : names.filter((name) => argv.includes(name));
  for (const name of namedCommands.length > 0 ? namedCommands : isHelp ? names : [])
    (await commands[name]?.())?.(program, io, outcome);
  return program;
}

/** Returns the prompt. Rejects a single word: it is far more often a mistyped command than a prompt. */
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
