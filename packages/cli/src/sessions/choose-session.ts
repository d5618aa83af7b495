import { realpathSync } from "node:fs";
import { AgentError, type RunInfo, type Store } from "capstan";
import { session } from "capstan/sessions";
import type { StartFlags } from "../commands/start-flags.ts";
import type { Io } from "../io.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { findNewestSession, findSession, findUnfinishedRun } from "./find-session.ts";
import { rememberFolder } from "./session-folders.ts";

/** The session to continue and its unfinished run. */
export type ChosenSession = { readonly id: string; readonly isNew: boolean; readonly unfinished?: RunInfo };

type SessionFlags = Pick<StartFlags, "continue" | "resume" | "fork" | "sessionId" | "session">;

/** Returns the session that the flags name, or a new one. */
export async function chooseSession(
  flags: SessionFlags,
  workspace: Pick<Workspace, "store" | "engine">,
  io: Io,
): Promise<ChosenSession> {
  const { store } = workspace;
  assertCompatibleFlags(flags);
  const folder = realpathSync(io.cwd);
  const existingId = await findExistingSession(flags, store, folder);
  if (existingId === undefined) return { id: flags.sessionId ?? `ses_${crypto.randomUUID()}`, isNew: true };
  const id = flags.fork
    ? await forkSession(store, existingId, flags.resume || flags.continue ? flags.sessionId : undefined)
    : existingId;
  if (flags.fork) await rememberFolder(store, id, folder);
  const unfinished = await findUnfinishedRun(workspace, id);
  return { id, isNew: false, ...(unfinished && { unfinished }) };
}

async function findExistingSession(
  flags: SessionFlags,
  store: Store,
  folder: string,
): Promise<string | undefined> {
  if (flags.continue) return findNewestSession(store, folder);
  if (typeof flags.resume === "string") return findSession(store, flags.resume);
  if (flags.sessionId !== undefined && (await store.getSession(flags.sessionId))) return flags.sessionId;
  return undefined;
}

async function forkSession(store: Store, id: string, newId: string | undefined): Promise<string> {
  const original = session(store, id);
  const { length } = await original.facts();
  return (await original.fork(length, newId === undefined ? {} : { id: newId })).id;
}

function assertCompatibleFlags({
  continue: continues,
  resume,
  fork,
  sessionId,
  session: storesSession,
}: SessionFlags): void {
  const createError = (message: string) => new AgentError("invalid_input", message);
  const names = [continues && "--continue", resume && "--resume", sessionId && "--session-id"].filter(
    Boolean,
  );
  if (storesSession === false && (names.length > 0 || fork))
    throw createError(`--no-session cannot be combined with ${names[0] ?? "--fork"}.`);
  if (continues && resume) throw createError("--continue and --resume cannot be combined.");
  if (fork && names.length === 0)
    throw createError("--fork needs a session to copy: add --continue or --resume.");
  if (sessionId !== undefined && !/^[\w.~-]{1,120}$/.test(sessionId))
    throw createError("--session-id must be at most 120 letters, digits or _ . ~ - characters.");
  if (sessionId !== undefined && (continues || resume) && !fork)
    throw createError(
      "With --continue or --resume, --session-id names the copy: add --fork, or remove --session-id.",
    );
}
