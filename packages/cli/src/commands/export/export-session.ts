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
    const parts = session(store, await findSession(store, beginning)).exportParts(format);
    if (flags.output === "-") {
      for await (const part of parts) io.stdout.write(formatOutput(part, io.stdout));
      return;
    }
    const file = resolve(io.cwd, flags.output);
    await writeFile(file, parts, { mode: 0o600 }).catch((error: unknown) => {
      if (!(error instanceof Error && "code" in error) || error instanceof AgentError) throw error;
      throw new AgentError(
        "invalid_input",
        `${file} cannot be written (${error.code}). Choose another file with -o.`,
      );
    });
    return io.stderr.write(`Written to ${escapeTerminalLine(file)}\n`);
  });
}
