import { PassThrough } from "node:stream";
import type { Io } from "../io.ts";
import { main } from "../main.ts";
import type { ScratchProject } from "./cli-process.ts";

/** What a command has said, and what it left with. */
export type CliResult = { readonly code: number; readonly stdout: string; readonly stderr: string };

/** Runs a command in this process, where a new one would add nothing but its start. Without a terminal. */
export async function runCli(
  words: readonly string[],
  { folder, env }: Pick<ScratchProject, "folder" | "env">,
  { stdin = "", cwd = folder }: { readonly stdin?: string; readonly cwd?: string } = {},
): Promise<CliResult> {
  const [input, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  input.end(stdin);
  const io: Io = { stdin: input, stdout, stderr, env, cwd };
  const code = await main(words, io);
  return { code, stdout: readStream(stdout), stderr: readStream(stderr) };
}

const readStream = (stream: PassThrough): string => (stream.read() as Buffer | null)?.toString() ?? "";
