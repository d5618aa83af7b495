import { AgentError } from "capstan";
import type { Io } from "../io.ts";
import { escapeTerminal } from "../terminal/escape-terminal.ts";
import { createStyle } from "../terminal/style.ts";
import type { FileTrust } from "./trust.ts";

/**
 * Asks whether to trust the files, and shows what has changed in files that were trusted before. Throws `aborted` when the
 * user cancels the prompt, which is neither yes nor no.
 */
export async function askForTrust(files: readonly FileTrust[], io: Io): Promise<boolean> {
  const { confirm, isCancel } = await import("@clack/prompts");
  const { formatChanges } = await import("./format-changes.ts");
  const style = createStyle(io.stderr, io.env);
  const changed = files.filter(({ state }) => state === "changed");
  for (const line of changed.flatMap((file) => formatChanges(file, style))) io.stderr.write(`${line}\n`);
  const answer = await confirm({
    message: formatQuestion(files, changed),
    active: "Yes, and remember",
    inactive: "No, continue without it",
    initialValue: false,
    input: io.stdin,
    output: io.stderr,
  });
  if (isCancel(answer)) throw new AgentError("aborted", "Cancelled. Nothing was started.");
  return answer;
}

function formatQuestion(files: readonly FileTrust[], changed: readonly FileTrust[]): string {
  const joinNames = (isSkillFolder: boolean) =>
    files
      .flatMap((one) => (one.isSkillFolder === isSkillFolder ? escapeTerminal(one.file) : []))
      .join(" and ");
  const code = joinNames(false);
  const skills = joinNames(true);
  const risk = [
    ...(code === "" ? [] : [`${code} can start programs and run code on this machine.`]),
    ...(skills === "" ? [] : [`The skills in ${skills} become instructions of the agent.`]),
  ].join(" ");
  return changed.length === 0
    ? `Do you trust this folder? ${risk}`
    : `Do you still trust this folder? The lines above changed since you trusted it. ${risk}`;
}
