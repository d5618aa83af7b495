import type { Part } from "capstan";
import { useState } from "react";
import type { FactIndex } from "../../data/fact-index.ts";
import type { OpenSession } from "../../data/open-session.ts";
import { useSessionList } from "../../data/session-list.ts";
import type { RunChoice } from "./run-choices.tsx";

/** How a person says the next thing in a session. */
export type Saying = {
  /** Who is to answer. */
  readonly choice: RunChoice;
  readonly choose: (choice: RunChoice) => void;
  readonly isRunning: boolean;
  readonly say: (input: string | readonly Part[]) => Promise<void>;
};

/** `onSaid` gets the text when it was said to a run that is on. */
export function useSaying(
  { view, watch }: OpenSession,
  index: FactIndex,
  onSaid: (told: string | undefined) => void,
): Saying {
  const [chosen, choose] = useState<RunChoice>({});
  const refresh = useSessionList((list) => list.refresh);
  const { status, runId = "" } = view;
  const isRunning = status === "running" || status === "waiting";
  const agent = chosen.agent ?? index.runStarts.get(runId)?.agent;
  const { model } = chosen;
  async function say(input: string | readonly Part[]): Promise<void> {
    await watch.send(input, { ...(agent !== undefined && { agent }), ...(model !== undefined && { model }) });
    onSaid(isRunning && typeof input === "string" ? input : undefined);
    // The prompt is free again without waiting for the list.
    void refresh();
  }
  return { choice: { ...chosen, agent }, choose, isRunning, say };
}
