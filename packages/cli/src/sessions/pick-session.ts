import { AgentError, type Store } from "capstan";
import type { Io } from "../io.ts";
import { formatAge } from "../output/format-age.ts";
import { escapeTerminalLine } from "../terminal/escape-terminal.ts";
import { listSessions } from "./find-session.ts";

/** Lets the user pick one of the newest sessions; undefined when cancelled. */
export async function pickSession(store: Store, io: Io): Promise<string | undefined> {
  const sessions = await listSessions(store, { limit: 50 });
  if (sessions.length === 0) throw new AgentError("not_found", "No sessions yet. Start one with `capstan`.");
  const { select, isCancel } = await import("@clack/prompts");
  const width = Math.max(20, (io.stderr.columns ?? 80) - 24);
  const answer = await select({
    message: "Which session?",
    maxItems: 12,
    options: sessions.map(({ id, title, updatedAt }) => ({
      value: id,
      label: escapeTerminalLine(title).slice(0, width) || id,
      hint: formatAge(updatedAt),
    })),
    input: io.stdin,
    output: io.stderr,
  });
  return isCancel(answer) ? undefined : answer;
}
