import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { AgentError } from "capstan";
import { type ExportFormat, session } from "capstan/sessions";
import type { Io } from "../../io.ts";
import { formatOutput } from "../../output/format-output.ts";
import { findSession } from "../../sessions/find-session.ts";
import { withStore } from "../../sessions/read-store.ts";
import { escapeTerminalLine } from "../../terminal/escape-terminal.ts";
import type { WorkspaceFlags } from "../../workspace/workspace.ts";

/** Flags of `capstan export`. */
export type ExportFlags = WorkspaceFlags & { readonly format: string; readonly output: string };

const formats: { readonly [name: string]: ExportFormat } = {
  md: "markdown",
  markdown: "markdown",
  json: "json",
  html: "html",
};

/** Writes a session to a file with mode 0600, or to stdout. */
export async function exportSession(beginning: string, flags: ExportFlags, io: Io): Promise<void> {
  const format = Object.hasOwn(formats, flags.format) ? formats[flags.format] : undefined;
  if (!format)
    throw new AgentError("invalid_input", `Unknown format "${flags.format}". Use md, json or html.`);
  await withStore(flags, io, async ({ store }) => {
    const text = await session(store, await findSession(store, beginning)).export(format);
    const ended = text.endsWith("\n") ? text : `${text}\n`;
    if (flags.output === "-") return io.stdout.write(formatOutput(ended, io.stdout));
    const file = resolve(io.cwd, flags.output);
    await writeFile(file, ended, { mode: 0o600 }).catch((error: NodeJS.ErrnoException) => {
      throw new AgentError(
        "invalid_input",
        `${file} cannot be written (${error.code}). Choose another file with -o.`,
      );
    });
    return io.stderr.write(`Written to ${escapeTerminalLine(file)}\n`);
  });
}
