import { AgentError } from "capstan";
import { listMemories, loadMemory, type MemoryInfo, removeMemories, removeMemory } from "capstan/memories";
import { formatCount } from "capstan/sessions";
import type { Io } from "../../io.ts";
import { formatAge } from "../../output/format-age.ts";
import { formatJson } from "../../output/format-json.ts";
import { formatOutput } from "../../output/format-output.ts";
import { type Column, formatTable } from "../../output/format-table.ts";
import { withStore } from "../../sessions/read-store.ts";
import { escapeTerminalLine } from "../../terminal/escape-terminal.ts";
import type { WorkspaceFlags } from "../../workspace/workspace.ts";
import { confirmRemoval } from "../sessions/session-actions.ts";

type Flags = WorkspaceFlags & {
  readonly user?: string;
  readonly scope?: string;
  readonly json?: boolean;
};

const columns: readonly Column<MemoryInfo>[] = [
  { name: "PATH", value: ({ path }) => path },
  { name: "SCOPE", value: ({ scope }) => scope, optional: true },
  { name: "WRITTEN BY", value: ({ provenance }) => provenance },
  { name: "CHANGED", value: ({ updatedAt }) => formatAge(updatedAt) },
  { name: "TEXT", value: ({ excerpt }) => excerpt, shrinks: true },
];

/** `memory list`. */
export async function listMemory(words: readonly string[], flags: Flags, io: Io): Promise<void> {
  const { user = "", scope } = flags;
  await withStore(flags, io, async ({ store }) => {
    const found = await listMemories(store, user, { scope, query: words.join(" ") });
    if (flags.json) return io.stdout.write(formatJson(found));
    if (found.length === 0) return io.stderr.write("No memories.\n");
    return io.stdout.write(formatTable(found, columns, io));
  });
}

/** `memory show`. */
export async function showMemory(path: string, flags: Flags, io: Io): Promise<void> {
  const { user = "", scope = "user" } = flags;
  await withStore(flags, io, async ({ store }) => {
    const memory = await loadMemory(store, { user, scope }, path);
    if (flags.json) return io.stdout.write(formatJson(memory));
    return io.stdout.write(formatOutput(memory.text.replace(/\n?$/, "\n"), io.stdout));
  });
}

/** `memory delete`. */
export async function deleteMemory(
  path: string | undefined,
  flags: Flags & { readonly all?: boolean; readonly yes?: boolean },
  io: Io,
): Promise<void> {
  const { user = "", scope, all = false } = flags;
  if ((path === undefined) === !all)
    throw new AgentError("invalid_input", "Pass the path of a memory, or --all.");
  await withStore(flags, io, async ({ store }) => {
    const named = path ?? (scope === undefined ? "all memories" : `all memories of ${scope}`);
    if (!flags.yes && !(await confirmRemoval([named], io))) return;
    if (path === undefined) {
      const count = await removeMemories(store, user, scope);
      io.stderr.write(`Deleted ${formatCount(count, "memory")}.\n`);
      return;
    }
    await removeMemory(store, { user, scope: scope ?? "user" }, { path, now: Date.now() });
    io.stderr.write(`Deleted ${escapeTerminalLine(path)}.\n`);
  });
}
