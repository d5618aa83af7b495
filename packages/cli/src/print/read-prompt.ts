import { fstatSync } from "node:fs";
import { AgentError } from "capstan";
import type { StartFlags } from "../commands/start-flags.ts";
import type { Io } from "../io.ts";
import type { Prompt } from "./include-files.ts";

const maxCharacters = 5_000_000;
// A parent process may leave the pipe open without using it.
const stdinTimeoutMs = 3_000;

/** Reads the prompt of the flags and the text on stdin, which is the prompt if the flags have none. */
export async function readPrompt({ print, prompt }: StartFlags, io: Io): Promise<Prompt | undefined> {
  const words = [typeof print === "string" ? print : undefined, prompt]
    .filter((text) => text !== undefined)
    .join(" ");
  const piped = io.stdin.isTTY ? "" : (await readStdin(io, words !== "")).trimEnd();
  if (words === "") return piped === "" ? undefined : { words: piped };
  return piped === "" ? { words } : { words, piped };
}

async function readStdin(io: Io, hasPrompt: boolean): Promise<string> {
  if (isStdinClosed(io)) return "";
  const { stdin } = io;
  const pieces: string[] = [];
  let length = 0;
  stdin.setEncoding("utf8");
  const ended = new Promise<void>((resolve, reject) => {
    stdin.on("data", (piece: string) => {
      clearTimeout(timer);
      pieces.push(piece);
      length += piece.length;
      if (length > maxCharacters)
        reject(new AgentError("invalid_input", `stdin has more than ${maxCharacters} characters.`));
    });
    stdin.once("end", resolve);
    stdin.once("error", resolve); // a closed terminal or pipe ends the input
    const timer = setTimeout(() => {
      if (!hasPrompt) return;
      io.stderr.write(
        "No input on stdin; continuing with the prompt alone. Use `</dev/null` to avoid the wait.\n",
      );
      resolve();
    }, stdinTimeoutMs);
    stdin.once("close", () => clearTimeout(timer));
    stdin.once("end", () => clearTimeout(timer));
  });
  try {
    await ended;
  } finally {
    stdin.pause();
  }
  return pieces.join("");
}

/** Whether the process was started without a stdin. */
function isStdinClosed({ stdin }: Io): boolean {
  if (stdin !== process.stdin) return false;
  try {
    fstatSync(0);
    return false;
  } catch {
    return true;
  }
}
