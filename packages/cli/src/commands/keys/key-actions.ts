import { type ApiKey, type ApiKeys, apiKeys } from "@capstan/server";
import { AgentError } from "capstan";
import { loadProject } from "../../config/load-project.ts";
import type { Io } from "../../io.ts";
import { formatAge } from "../../output/format-age.ts";
import { formatJson } from "../../output/format-json.ts";
import { type Column, formatTable } from "../../output/format-table.ts";
import { openStore, resolveDatabase } from "../../workspace/open-store.ts";
import type { WorkspaceFlags } from "../../workspace/workspace.ts";

type Flags = WorkspaceFlags & { readonly json?: boolean };

async function withKeys(flags: Flags, io: Io, use: (keys: ApiKeys) => Promise<void>): Promise<void> {
  const project = await loadProject(flags, io, "optional");
  const { store } = await openStore(resolveDatabase(flags, project, io));
  try {
    await use(apiKeys(store));
  } finally {
    await store.close();
  }
}

/** `keys create`. Writes only the secret to stdout. */
export async function createKey(
  user: string,
  flags: Flags & { readonly admin?: boolean; readonly expires?: string },
  io: Io,
): Promise<void> {
  // Probably an unset variable in a script; the key would belong to the local user.
  if (user === "") throw new AgentError("invalid_input", "The user name must not be empty.");
  const expiresAt = flags.expires === undefined ? undefined : parseExpiry(flags.expires, Date.now());
  await withKeys(flags, io, async (keys) => {
    const key = await keys.create({
      user,
      isAdmin: flags.admin ?? false,
      ...(expiresAt !== undefined && { expiresAt }),
    });
    if (flags.json) return void io.stdout.write(formatJson(key));
    io.stderr.write(`Key ${key.id} for ${user}. It is shown only once; the server stores its hash.\n`);
    io.stdout.write(`${key.secret}\n`);
  });
}

const columns: readonly Column<ApiKey>[] = [
  { name: "ID", value: ({ id }) => id },
  { name: "USER", value: ({ user }) => user, shrinks: true },
  { name: "RIGHTS", value: ({ isAdmin }) => (isAdmin ? "admin" : "user") },
  { name: "CREATED", value: ({ createdAt }) => formatAge(createdAt), optional: true },
  { name: "STATE", value: (key) => formatKeyState(key, Date.now()) },
];

function formatKeyState({ isRevoked, expiresAt }: ApiKey, now: number): string {
  if (isRevoked) return "revoked";
  if (expiresAt === undefined) return "active";
  return expiresAt <= now ? "expired" : `until ${new Date(expiresAt).toISOString().slice(0, 16)}Z`;
}

/** `keys list`. */
export async function listKeys(flags: Flags, io: Io): Promise<void> {
  await withKeys(flags, io, async (keys) => {
    const known = await keys.list();
    if (flags.json) return void io.stdout.write(formatJson(known));
    if (known.length > 0) return void io.stdout.write(formatTable(known, columns, io));
    io.stderr.write(
      "No keys yet: only this machine can use the server. Create one with `capstan keys create <user>`.\n",
    );
  });
}

/** `keys revoke`. */
export async function revokeKey(id: string, flags: Flags, io: Io): Promise<void> {
  await withKeys(flags, io, async (keys) => {
    if (!(await keys.list()).some((key) => key.id === id))
      throw new AgentError("not_found", `Key "${id}" not found. Run \`capstan keys list\` to list keys.`);
    await keys.revoke(id);
    io.stderr.write(`Revoked ${id}.\n`);
  });
}

const units: { readonly [unit: string]: number } = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Parses a duration from now, or a date. */
export function parseExpiry(text: string, now: number): number {
  const [, amount, unit = ""] = /^(\d{1,5})([mhd])$/.exec(text) ?? [];
  const at = amount === undefined ? Date.parse(text) : now + Number(amount) * (units[unit] ?? 0);
  if (at > now) return at;
  throw new AgentError(
    "invalid_input",
    `--expires must be in the future, such as 30d, 12h or 2030-01-31, not "${text}".`,
  );
}
