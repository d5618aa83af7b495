import { randomUUID } from "node:crypto";
import { realpathSync } from "node:fs";
import { AgentError, type RunInfo, type Store } from "capstan";
import { session } from "capstan/sessions";
import type { ScriptFlags } from "../commands/start-flags.ts";
import type { Io } from "../io.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { findSession, newestSession, unfinishedRun } from "./find-session.ts";
import { rememberFolder } from "./session-folders.ts";

/** The session to go on with, and the run in it that is not over. */
export type ChosenSession = { readonly id: string; readonly isNew: boolean; readonly unfinished?: RunInfo };

type SessionFlags = Pick<ScriptFlags, "continue" | "resume" | "fork" | "sessionId" | "session">;

/** The one that the flags name; a new one when they name none. */
export async function chooseSession(
  flags: SessionFlags,
  workspace: Pick<Workspace, "store" | "engine">,
  io: Io,
): Promise<ChosenSession> {
  const { store } = workspace;
  assertSensible(flags);
  const folder = realpathSync(io.cwd);
  const known = await knownSession(flags, store, folder);
  if (known === undefined) return { id: flags.sessionId ?? `ses_${randomUUID()}`, isNew: true };
  const id = flags.fork
    ? await forked(store, known, flags.resume || flags.continue ? flags.sessionId : undefined)
    : known;
  if (flags.fork) await rememberFolder(store, id, folder);
  const unfinished = await unfinishedRun(workspace, id);
  return { id, isNew: false, ...(unfinished && { unfinished }) };
}

async function knownSession(flags: SessionFlags, store: Store, folder: string): Promise<string | undefined> {
  if (flags.continue) return newestSession(store, folder);
  if (typeof flags.resume === "string") return findSession(store, flags.resume);
  if (flags.sessionId !== undefined && (await store.getSession(flags.sessionId))) return flags.sessionId;
  return undefined;
}

async function forked(store: Store, id: string, newId: string | undefined): Promise<string> {
  const original = session(store, id);
  const { length } = await original.facts();
  return (await original.fork(length, newId === undefined ? {} : { id: newId })).id;
}

function assertSensible({ continue: goesOn, resume, fork, sessionId, session: isKept }: SessionFlags): void {
  const wrong = (message: string) => new AgentError("invalid_input", message);
  const names = [goesOn && "--continue", resume && "--resume", sessionId && "--session-id"].filter(Boolean);
  if (isKept === false && (names.length > 0 || fork))
    throw wrong(`--no-session keeps nothing, so it does not go with ${names[0] ?? "--fork"}: leave one out.`);
  if (goesOn && resume) throw wrong("--continue and --resume name two sessions: leave one out.");
  if (fork && names.length === 0)
    throw wrong("--fork copies a session: name it with --continue or --resume.");
  if (sessionId !== undefined && !/^[\w.~-]{1,120}$/.test(sessionId))
    throw wrong("--session-id takes letters, digits, and _ . ~ -, at most 120 of them.");
  if (sessionId !== undefined && (goesOn || resume) && !fork)
    throw wrong("--session-id names the copy that --fork makes: add --fork, or leave it out.");
}
