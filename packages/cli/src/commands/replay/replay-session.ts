import { AgentError } from "capstan";
import { readableLog } from "capstan/logs";
import { session } from "capstan/sessions";
import type { Io } from "../../io.ts";
import { formatJsonLine } from "../../output/format-json.ts";
import { formatOutput } from "../../output/format-output.ts";
import { watchInterruption } from "../../print/interruption.ts";
import { findSession } from "../../sessions/find-session.ts";
import { withStore } from "../../sessions/read-store.ts";
import type { WorkspaceFlags } from "../../workspace/workspace.ts";

/** Flags of `capstan replay`. */
export type ReplayFlags = WorkspaceFlags & {
  readonly speed?: string;
  readonly json?: boolean;
  readonly streamJson?: boolean;
};

/** Writes the recorded events as readable lines or as JSON. */
export async function replaySession(beginning: string, flags: ReplayFlags, io: Io): Promise<void> {
  const speed = flags.speed === undefined ? undefined : Number(flags.speed);
  if (speed !== undefined && !(speed > 0))
    throw new AgentError("invalid_input", "--speed must be a number above 0, such as 10.");
  const stop = watchInterruption(io);
  const leaving = new AbortController();
  void stop.first.then(() => leaving.abort());
  try {
    await withStore(flags, io, async ({ store }) => {
      const id = await findSession(store, beginning);
      const asJson = flags.json || flags.streamJson;
      const say = readableLog((line) => void io.stdout.write(formatOutput(line, io.stdout)));
      const settings = { signal: leaving.signal, ...(speed !== undefined && { speed }) };
      for await (const event of session(store, id).replay(settings)) {
        if (asJson) io.stdout.write(formatJsonLine(event));
        else say(event);
      }
    });
  } catch (error) {
    if (!leaving.signal.aborted) throw error;
  } finally {
    stop.close();
  }
}
