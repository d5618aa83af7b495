import type { Io } from "../io.ts";
import { harmless } from "../terminal/harmless.ts";

/** Asks whether what the files say may be run. Whoever leaves the question says no. */
export async function askForTrust(files: readonly string[], io: Io): Promise<boolean> {
  const { confirm } = await import("@clack/prompts");
  const names = files.map((file) => harmless(file)).join(" and ");
  const answer = await confirm({
    message: `Do you trust this folder? ${names} can start programs and run code on this machine.`,
    active: "Yes, and remember it",
    inactive: "No, go on without",
    initialValue: false,
    input: io.stdin,
    output: io.stderr,
  });
  return answer === true;
}
