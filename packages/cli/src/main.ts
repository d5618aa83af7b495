import { catchUnhandledErrors } from "./errors/unhandled-errors.ts";
import { type ExitCode, exitCodes } from "./exit-code.ts";
import { type Io, processIo } from "./io.ts";
import { version } from "./version.ts";

/** Runs the command line and returns the exit code. Never rejects. */
export async function main(argv: readonly string[], io: Io): Promise<ExitCode> {
  // Fast path: answers without loading the program.
  if (argv.length === 1 && (argv[0] === "--version" || argv[0] === "-V")) {
    io.stdout.write(`${version}\n`);
    return exitCodes.ok;
  }
  const { runProgram } = await import("./commands/program.ts");
  return runProgram(argv, io);
}

/** Runs the command line of this process and exits once all output is flushed. */
export async function runMain(): Promise<void> {
  hideSqliteWarning();
  const { stdout, stderr } = process;
  const failedStreams = new Set<unknown>();
  let isOutputLost = false;
  for (const stream of [stdout, stderr])
    stream.on("error", (error: NodeJS.ErrnoException) => {
      const isFirst = !failedStreams.has(stream);
      failedStreams.add(stream);
      // EPIPE: the reader is gone, and commands that care listen themselves. Any other error loses output.
      if (error.code === "EPIPE" || stream === stderr) return;
      isOutputLost = true;
      if (isFirst) stderr.write(`capstan: the output cannot be written: ${error.message}.\n`);
    });
  catchUnhandledErrors((error) => void exitWithUnhandledError(error));
  const exitCode = await main(process.argv.slice(2), processIo);
  await Promise.all([stdout, stderr].map((stream) => failedStreams.has(stream) || flush(stream)));
  process.exit(isOutputLost ? exitCodes.failure : exitCode);
}

/** Hides Node's warning that SQLite is experimental: users can do nothing about it. */
function hideSqliteWarning(): void {
  const { emitWarning } = process;
  process.emitWarning = ((warning: string | Error, ...rest: unknown[]) => {
    if (String(warning).includes("SQLite is an experimental feature")) return;
    Reflect.apply(emitWarning, process, [warning, ...rest]);
  }) as typeof process.emitWarning;
}

async function exitWithUnhandledError(error: unknown): Promise<void> {
  const { formatUnhandledError: strayErrorWords } = await import("./errors/format-unhandled-error.ts");
  process.stderr.write(`capstan: ${strayErrorWords(error, process.env)}\n`, () =>
    process.exit(exitCodes.failure),
  );
}

function flush(stream: NodeJS.WriteStream): Promise<unknown> {
  return new Promise((resolve) => stream.write("", resolve));
}
