import type { SessionView } from "capstan/client";

/** A message that was sent during a run, and the position of the session by then. */
export type SentText = { readonly text: string; readonly seq: number };

/** Returns the messages that are not in the conversation yet: their runs wait for their turn. */
export function findQueued(
  { entries }: Pick<SessionView, "entries">,
  sentTexts: readonly SentText[],
): readonly SentText[] {
  const arrived = entries.filter((entry) => entry.type === "user");
  const taken = new Set<number>();
  return sentTexts.filter(({ text, seq }) => {
    const entry = arrived.find((one) => one.seq > seq && one.content === text && !taken.has(one.seq));
    if (entry) taken.add(entry.seq);
    return !entry;
  });
}
