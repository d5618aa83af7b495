import { AgentError } from "capstan";
import type { Io } from "../io.ts";
import { escapeTerminal } from "../terminal/escape-terminal.ts";

/** Asks whether what the files say may be run. Throws `aborted` when the question is left: that is neither yes nor no. */
export async function askForTrust(files: readonly string[], io: Io): Promise<boolean> {
  const { confirm, isCancel } = await import("@clack/prompts");
  const names = files.map((file) => escapeTerminal(file)).join(" and ");
  const answer = await confirm({
    message: `Do you trust this folder? ${names} can start programs and run code on this machine.`,
    active: "Yes, and remember it",
    inactive: "No, go on without",
    initialValue: false,
    input: io.stdin,
    output: io.stderr,
  });
  if (isCancel(answer)) throw new AgentError("aborted", "The question was left, so nothing was started.");
  return answer;
}
