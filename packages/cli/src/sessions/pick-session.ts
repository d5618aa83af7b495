import { AgentError, type Store } from "capstan";
import type { Io } from "../io.ts";
import { ago } from "../output/format-age.ts";
import { harmlessLine } from "../terminal/escape-terminal.ts";
import { listSessions } from "./find-session.ts";

/** Lets a person choose from the newest; undefined when they leave. */
export async function pickSession(store: Store, io: Io): Promise<string | undefined> {
  const known = await listSessions(store, { most: 50 });
  if (known.length === 0)
    throw new AgentError("not_found", "There is no session yet: begin one with `capstan`.");
  const { select, isCancel } = await import("@clack/prompts");
  const width = Math.max(20, (io.stderr.columns ?? 80) - 24);
  const answer = await select({
    message: "Which session?",
    maxItems: 12,
    options: known.map(({ id, title, updatedAt }) => ({
      value: id,
      label: harmlessLine(title).slice(0, width) || id,
      hint: ago(updatedAt),
    })),
    input: io.stdin,
    output: io.stderr,
  });
  return isCancel(answer) ? undefined : answer;
}
