import { AgentError } from "capstan";
import { chat } from "../chat/chat.ts";
import { type ExitCode, exitCodes } from "../exit-code.ts";
import type { Io } from "../io.ts";
import { openWorkspace } from "../open-workspace.ts";
import { chooseSession } from "./choose-session.ts";
import { pickSession } from "./pick-session.ts";
import type { ScriptFlags } from "./script-flags.ts";

/** The chat in a terminal, in the session that the flags name. */
export async function startChat(flags: ScriptFlags, io: Io): Promise<ExitCode> {
  if (io.env.TERM === "dumb")
    throw new AgentError(
      "invalid_input",
      'This terminal (TERM=dumb) cannot show the chat: use capstan -p "…".',
    );
  const workspace = await openWorkspace(flags, io);
  try {
    const resume = flags.resume === true ? await pickSession(workspace.store, io) : flags.resume;
    if (flags.resume === true && resume === undefined) return exitCodes.interrupted;
    const chosen = await chooseSession({ ...flags, resume }, workspace, io);
    return await chat(workspace, io, {
      ...((!chosen.isNew || flags.sessionId !== undefined) && { session: chosen.id }),
      ...(flags.said !== undefined && { first: flags.said }),
      reopen: (changed) => openWorkspace({ ...flags, ...changed }, io),
    });
  } finally {
    await workspace.close();
  }
}
