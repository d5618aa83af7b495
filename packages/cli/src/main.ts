import { type ExitCode, exitCodes } from "./exit-code.ts";
import { type Io, processIo } from "./io.ts";
import { version } from "./version.ts";

/** Runs the command line and gives what to exit with. Never rejects. */
export async function main(argv: readonly string[], io: Io): Promise<ExitCode> {
  // The commonest question of scripts, answered without loading the program.
  if (argv.length === 1 && (argv[0] === "--version" || argv[0] === "-V")) {
    io.stdout.write(`${version}\n`);
    return exitCodes.ok;
  }
  const { runProgram } = await import("./program.ts");
  return runProgram(argv, io);
}

/** Runs the command line of this process, and ends it when all that was said is written. */
export async function runMain(): Promise<void> {
  const closed = new Set<unknown>();
  // Whoever read it has left; a command that cares listens too.
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => closed.add(stream));
  const exitCode = await main(process.argv.slice(2), processIo);
  await Promise.all([process.stdout, process.stderr].map((stream) => closed.has(stream) || written(stream)));
  process.exit(exitCode);
}

function written(stream: NodeJS.WriteStream): Promise<unknown> {
  return new Promise((resolve) => stream.write("", resolve));
}
