import { AgentError } from "capstan";
import type { Io } from "../io.ts";
import { escapeTerminal } from "../terminal/escape-terminal.ts";

/** Asks whether to trust the files. Throws `aborted` when the user cancels the prompt, which is neither yes nor no. */
export async function askForTrust(files: readonly string[], io: Io): Promise<boolean> {
  const { confirm, isCancel } = await import("@clack/prompts");
  const names = files.map((file) => escapeTerminal(file)).join(" and ");
  const answer = await confirm({
    message: `Do you trust this folder? ${names} can start programs and run code on this machine.`,
    active: "Yes, and remember",
    inactive: "No, continue without it",
    initialValue: false,
    input: io.stdin,
    output: io.stderr,
  });
  if (isCancel(answer)) throw new AgentError("aborted", "Cancelled. Nothing was started.");
  return answer;
}
