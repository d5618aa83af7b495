import { realpathSync } from "node:fs";
import { AgentError } from "capstan";
import { type FoundSession, session, sessions } from "capstan/sessions";
import type { Io } from "../../io.ts";
import { formatAge } from "../../output/format-age.ts";
import { formatJson } from "../../output/format-json.ts";
import { formatOutput } from "../../output/format-output.ts";
import { type Column, formatCost, formatTable } from "../../output/format-table.ts";
import { findSession, listSessions, type SessionWithFolder } from "../../sessions/find-session.ts";
import { withStore } from "../../sessions/read-store.ts";
import { escapeTerminal, escapeTerminalLine } from "../../terminal/escape-terminal.ts";
import type { WorkspaceFlags } from "../../workspace/workspace.ts";

type Flags = WorkspaceFlags & { readonly json?: boolean };

const columns: readonly Column<SessionWithFolder>[] = [
  { name: "ID", value: ({ id }) => (id.startsWith("ses_") ? id.slice(0, 12) : id) },
  { name: "TITLE", value: ({ title }) => title, shrinks: true },
  { name: "CHANGED", value: ({ updatedAt }) => formatAge(updatedAt) },
  { name: "FOLDER", value: ({ folder = "" }) => folder, optional: true },
];

/** `sessions list`. */
export async function listSessionsCommand(
  flags: Flags & { readonly most?: string; readonly here?: boolean },
  io: Io,
): Promise<void> {
  const most = Number(flags.most ?? 20);
  if (!Number.isInteger(most) || most < 1)
    throw new AgentError("invalid_input", "--most must be a whole number of at least 1.");
  await withStore(flags, io, async ({ store }) => {
    const known = await listSessions(store, {
      limit: most,
      folder: flags.here ? realpathSync(io.cwd) : undefined,
    });
    if (flags.json) return io.stdout.write(formatJson(known));
    if (known.length === 0) return io.stderr.write("No sessions yet. Start one with `capstan`.\n");
    return io.stdout.write(formatTable(known, columns, io));
  });
}

/** `sessions show`. */
export async function showSession(beginning: string, flags: Flags, io: Io): Promise<void> {
  await withStore(flags, io, async ({ store }) => {
    const found = session(store, await findSession(store, beginning));
    const info = await found.info();
    if (flags.json) return io.stdout.write(formatJson(info));
    io.stdout.write(formatOutput(await found.export("markdown"), io.stdout));
    const runs = info.runs.map(({ runId, status, turns, cost, words }) => ({
      runId,
      status,
      turns,
      cost,
      words,
    }));
    io.stdout.write("\n");
    return io.stdout.write(
      formatTable(
        runs,
        [
          { name: "RUN", value: ({ runId }) => runId },
          { name: "STATUS", value: ({ status }) => status },
          { name: "TURNS", value: ({ turns }) => String(turns) },
          { name: "COST", value: ({ cost }) => formatCost(cost) },
          { name: "ASKED", value: ({ words }) => words, shrinks: true },
        ],
        io,
      ),
    );
  });
}

/** `sessions search`. */
export async function searchSessions(words: string, flags: Flags, io: Io): Promise<void> {
  await withStore(flags, io, async ({ store }) => {
    const found = await sessions(store).search(words);
    if (flags.json) return io.stdout.write(formatJson(found));
    if (found.length === 0)
      return io.stderr.write(`No session contains "${escapeTerminalLine(words)}". Try fewer words.\n`);
    const rows: readonly Column<FoundSession>[] = [
      { name: "ID", value: ({ id }) => id.slice(0, 12) },
      { name: "TITLE", value: ({ title }) => title, optional: true },
      { name: "WHERE", value: ({ places }) => places[0]?.excerpt ?? "", shrinks: true },
    ];
    return io.stdout.write(formatTable(found, rows, io));
  });
}

/** `sessions rename`. */
export async function renameSession(
  beginning: string,
  title: string,
  { flags, io }: { readonly flags: Flags; readonly io: Io },
): Promise<void> {
  await withStore(flags, io, async ({ store }) => {
    const id = await findSession(store, beginning);
    await session(store, id).rename(title);
    io.stderr.write(
      escapeTerminal(title === "" ? `Removed the title of ${id}.\n` : `Renamed ${id} to "${title}".\n`),
    );
  });
}

/** `sessions rm`. Asks for confirmation in a terminal; requires `--yes` without one. */
export async function removeSessions(
  beginnings: readonly string[],
  flags: Flags & { readonly yes?: boolean },
  io: Io,
): Promise<void> {
  await withStore(flags, io, async ({ store }) => {
    const ids = await Promise.all(beginnings.map((beginning) => findSession(store, beginning)));
    if (!flags.yes && !(await confirmRemoval(ids, io))) return;
    for (const id of new Set(ids)) {
      await session(store, id).remove();
      io.stderr.write(`Deleted ${escapeTerminalLine(id)} and its logs.\n`);
    }
  });
}

/** Asks in a terminal whether to delete sessions; without one, throws `invalid_input`. */
export async function confirmRemoval(ids: readonly string[], io: Io): Promise<boolean> {
  if (!io.stdin.isTTY || !io.stderr.isTTY)
    throw new AgentError("invalid_input", "Data is deleted permanently. Pass --yes to confirm.");
  const { confirm, isCancel } = await import("@clack/prompts");
  const named = ids.length > 10 ? `${ids.length} sessions` : ids.map(escapeTerminalLine).join(", ");
  const message = `Delete ${named} permanently?`;
  const answer = await confirm({ message, initialValue: false, input: io.stdin, output: io.stderr });
  if (isCancel(answer)) throw new AgentError("aborted", "Cancelled. Nothing was deleted.");
  return answer;
}
