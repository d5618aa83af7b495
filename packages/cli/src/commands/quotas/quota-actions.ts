import { listUsageUsers, loadUsage, type Quotas, storedQuotas, type UserUsage } from "@capstan/server";
import { AgentError, type Store } from "capstan";
import { loadProject } from "../../config/load-project.ts";
import type { Io } from "../../io.ts";
import { formatJson } from "../../output/format-json.ts";
import { type Column, formatTable } from "../../output/format-table.ts";
import { openStore, resolveDatabase } from "../../workspace/open-store.ts";
import type { WorkspaceFlags } from "../../workspace/workspace.ts";

type Flags = WorkspaceFlags & { readonly json?: boolean; readonly all?: boolean };
type QuotaFlags = Flags & {
  readonly runs?: readonly string[];
  readonly tokens?: readonly string[];
  readonly cost?: readonly string[];
  readonly storage?: string;
  readonly sessions?: string;
  readonly concurrentRuns?: string;
};

async function withStore(flags: Flags, io: Io, use: (store: Store) => Promise<void>): Promise<void> {
  const project = await loadProject(flags, io, "optional");
  const { store } = await openStore(resolveDatabase(flags, project, io));
  try {
    await use(store);
  } finally {
    await store.close();
  }
}

type UserRow = UserUsage & { readonly user: string; readonly quotas: Quotas };

const columns: readonly Column<UserRow>[] = [
  { name: "USER", value: ({ user }) => user || "(local)", shrinks: true },
  { name: "RUNS TODAY", value: ({ windows }) => `${windows.day.runs}` },
  { name: "TOKENS TODAY", value: ({ windows }) => `${windows.day.tokens}` },
  { name: "COST TODAY", value: ({ windows }) => `$${windows.day.cost.toFixed(2)}` },
  { name: "STORAGE", value: ({ storage }) => `${(storage.bytes / 1e6).toFixed(1)} MB`, optional: true },
  { name: "OWN QUOTAS", value: ({ quotas }) => formatQuotas(quotas), optional: true },
];

/** `quotas`. */
export async function showQuotas(flags: Flags, io: Io): Promise<void> {
  await withStore(flags, io, async (store) => {
    const stored = storedQuotas(store);
    const users = [...new Set([...(await listUsageUsers(store)), ...(await stored.listUsers())])].sort();
    const rows = await Promise.all(
      users.map(async (user) => ({
        user,
        quotas: await stored.get(user),
        ...(await loadUsage(store, user)),
      })),
    );
    const ofAll = await stored.get();
    if (flags.json) return void io.stdout.write(formatJson({ all: ofAll, users: rows }));
    io.stderr.write(`Quotas of all users: ${formatQuotas(ofAll) || "none stored"}\n`);
    if (rows.length > 0) io.stdout.write(formatTable(rows, columns, io));
  });
}

/** `quotas set`. Keeps the quotas that the flags do not name. */
export async function setQuotas(user: string | undefined, flags: QuotaFlags, io: Io): Promise<void> {
  const changes = readQuotaFlags(flags);
  if (Object.keys(changes).length === 0)
    throw new AgentError("invalid_input", "Name a quota to set, such as --runs 100/day.");
  await changeQuotas(user, flags, io, (before) => ({ ...before, ...changes }));
}

/** `quotas clear`. */
export async function clearQuotas(user: string | undefined, flags: Flags, io: Io): Promise<void> {
  await changeQuotas(user, flags, io, () => ({}));
}

// biome-ignore lint/complexity/useMaxParams: the arguments of a command, and its change
async function changeQuotas(
  user: string | undefined,
  flags: Flags,
  io: Io,
  change: (before: Quotas) => Quotas,
): Promise<void> {
  if ((user === undefined) !== (flags.all === true) || user === "")
    throw new AgentError("invalid_input", "Name one user, or use --all for all users.");
  await withStore(flags, io, async (store) => {
    const stored = storedQuotas(store);
    const quotas = change(await stored.get(user));
    await stored.set(user, quotas);
    io.stderr.write(`Quotas of ${user ?? "all users"}: ${formatQuotas(quotas) || "none stored"}\n`);
  });
}

function readQuotaFlags({ runs, tokens, cost, storage, sessions, concurrentRuns }: QuotaFlags): Quotas {
  return {
    ...(runs && { runs: parseWindows("--runs", runs) }),
    ...(tokens && { tokens: parseWindows("--tokens", tokens) }),
    ...(cost && { cost: parseWindows("--cost", cost) }),
    ...(storage !== undefined && { storage: parseLimit("--storage", storage) }),
    ...(sessions !== undefined && { sessions: parseLimit("--sessions", sessions) }),
    ...(concurrentRuns !== undefined && { concurrentRuns: parseLimit("--concurrent-runs", concurrentRuns) }),
  };
}

function parseWindows(flag: string, values: readonly string[]): NonNullable<Quotas["runs"]> {
  if (values.includes("unlimited")) return "unlimited";
  return Object.fromEntries(
    values.map((value) => {
      const [amount = "", window = ""] = value.split("/");
      if (!["minute", "hour", "day", "month"].includes(window))
        throw new AgentError("invalid_input", `${flag} needs a window, such as 100/day, not "${value}".`);
      return [window, parseLimit(flag, amount)];
    }),
  );
}

const units: { readonly [unit: string]: number } = { "": 1, k: 1e3, kb: 1e3, m: 1e6, mb: 1e6, gb: 1e9 };

/** Parses a number such as 500, 2m, 1gb or $5. */
export function parseLimit(flag: string, text: string): number | "unlimited" {
  if (text === "unlimited") return text;
  const [, amount, unit = ""] = /^\$?(\d+(?:\.\d+)?)(k|kb|m|mb|gb)?$/i.exec(text) ?? [];
  if (amount !== undefined) return Number(amount) * (units[unit.toLowerCase()] ?? 1);
  throw new AgentError("invalid_input", `${flag} must be a number such as 500, 2m or 1gb, not "${text}".`);
}

function formatQuotas(quotas: Quotas): string {
  return Object.entries(quotas)
    .map(([name, value]) =>
      typeof value === "object"
        ? `${name} ${Object.entries(value)
            .map(([window, limit]) => `${limit}/${window}`)
            .join(", ")}`
        : `${name} ${value}`,
    )
    .join("; ");
}
