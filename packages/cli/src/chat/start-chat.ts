import { AgentError } from "capstan";
import type { StartFlags } from "../commands/start-flags.ts";
import { type ExitCode, exitCodes } from "../exit-code.ts";
import type { Io } from "../io.ts";
import { chooseSession } from "../sessions/choose-session.ts";
import { pickSession } from "../sessions/pick-session.ts";
import { openWorkspace } from "../workspace/workspace.ts";
import { runChat } from "./chat.ts";

/** Starts the chat in the session that the flags name. */
export async function startChat(flags: StartFlags, io: Io): Promise<ExitCode> {
  if (io.env.TERM === "dumb")
    throw new AgentError(
      "invalid_input",
      'The chat does not work in this terminal (TERM=dumb). Use capstan -p "…".',
    );
  const workspace = await openWorkspace(flags, io);
  try {
    const resume = flags.resume === true ? await pickSession(workspace.store, io) : flags.resume;
    if (flags.resume === true && resume === undefined) return exitCodes.interrupted;
    const chosen = await chooseSession({ ...flags, resume }, workspace, io);
    return await runChat(workspace, io, {
      ...((!chosen.isNew || flags.sessionId !== undefined) && { session: chosen.id }),
      ...(flags.prompt !== undefined && { first: flags.prompt }),
      // No prompt in the middle of a chat: a config that has changed since is refused.
      reopen: (changed) =>
        openWorkspace({ ...flags, ...changed, trust: false, isScript: workspace.isTrusted }, io),
    });
  } finally {
    await workspace.close();
  }
}
