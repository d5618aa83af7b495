import { AgentError, type Store } from "capstan";
import { listMemories, removeMemories } from "capstan/memories";
import { formatCount, type PrunedSession, type PruneOptions, prune } from "capstan/sessions";
import type { Io } from "../../io.ts";
import { formatAge } from "../../output/format-age.ts";
import { formatJson } from "../../output/format-json.ts";
import { type Column, formatTable } from "../../output/format-table.ts";
import { withStore } from "../../sessions/read-store.ts";
import type { WorkspaceFlags } from "../../workspace/workspace.ts";
import { confirmRemoval } from "./session-actions.ts";

/** Flags of `capstan sessions prune`. */
export type PruneFlags = WorkspaceFlags & {
  readonly olderThan?: string;
  readonly largerThan?: string;
  readonly user?: string;
  readonly unfinished?: boolean;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
  readonly json?: boolean;
};

const columns: readonly Column<PrunedSession>[] = [
  { name: "ID", value: ({ id }) => id, shrinks: true },
  { name: "CHANGED", value: ({ updatedAt }) => formatAge(updatedAt) },
  {
    name: "SIZE",
    value: ({ bytes }) => (bytes === undefined ? "" : formatSessionSize(bytes)),
    optional: true,
  },
];

/** `sessions prune`. Lists the sessions first, and asks before it deletes them. */
export async function pruneSessions(flags: PruneFlags, io: Io): Promise<void> {
  const options = toPruneOptions(flags, Date.now());
  await withStore(flags, io, async ({ store }) => {
    const found = await collect(prune(store, { ...options, dryRun: true }));
    if (flags.json) io.stdout.write(formatJson(found));
    else if (found.length > 0) io.stdout.write(formatTable(found, columns, io));
    if (found.length === 0) io.stderr.write("No sessions to delete.\n");
    const memories = await findErasedMemories(flags, store);
    if (memories.length > 0) io.stderr.write(`Memories of ${flags.user} to delete: ${memories.length}.\n`);
    if ((found.length === 0 && memories.length === 0) || flags.dryRun) return;
    if (!flags.yes && !(await confirmRemoval([...found.map(({ id }) => id), ...memories], io))) return;
    let count = 0;
    for await (const _ of prune(store, options)) count += 1;
    if (memories.length > 0) await removeMemories(store, flags.user ?? "");
    io.stderr.write(`Deleted ${formatCount(count, "session")} and their logs.\n`);
  });
}

/** Deleting everything of a user includes the memories, which are part of no session. Returns their paths. */
async function findErasedMemories(
  { user, olderThan, largerThan }: PruneFlags,
  store: Store,
): Promise<readonly string[]> {
  if (user === undefined || olderThan !== undefined || largerThan !== undefined) return [];
  return (await listMemories(store, user)).map(({ path }) => path);
}

async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const collected: Item[] = [];
  for await (const item of items) collected.push(item);
  return collected;
}

/** Converts the flags. Throws `invalid_input` for an invalid value. */
export function toPruneOptions(flags: PruneFlags, now: number): PruneOptions {
  const { olderThan, largerThan, user, unfinished } = flags;
  return {
    ...(olderThan !== undefined && {
      before: now - parseAmount(olderThan, timeUnits, "--older-than, such as 90d"),
    }),
    ...(largerThan !== undefined && {
      largerThan: parseAmount(largerThan, sizeUnits, "--larger-than, such as 20mb"),
    }),
    ...(user !== undefined && { scope: user }),
    ...(unfinished && { includeUnfinished: true }),
  };
}

type Units = { readonly [unit: string]: number };
const timeUnits: Units = { m: 60_000, h: 3_600_000, d: 86_400_000 };
const sizeUnits: Units = { kb: 1e3, mb: 1e6, gb: 1e9 };

function parseAmount(text: string, units: Units, flag: string): number {
  const [, amount, unit = ""] = /^(\d{1,6})([a-z]+)$/.exec(text.toLowerCase()) ?? [];
  const factor = Object.hasOwn(units, unit) ? units[unit] : undefined;
  if (amount !== undefined && factor !== undefined && Number(amount) > 0) return Number(amount) * factor;
  throw new AgentError("invalid_input", `Invalid value "${text}" for ${flag}.`);
}

function formatSessionSize(bytes: number): string {
  return bytes < 1e6 ? `${Math.ceil(bytes / 1e3)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}
