import { useMemo, useState } from "react";
import type { OpenSession } from "../data/open-session.ts";
import { useInspectorFocus } from "./focus.ts";
import { outerRunId, type RunChoice, runsIn } from "./session-runs.ts";

type ChosenRun = {
  readonly runs: readonly RunChoice[];
  readonly run: RunChoice | undefined;
  readonly choose: (runId: string) => void;
};

/** The run that is looked at: the chosen one, the one of the fact in focus, or the newest. */
export function useChosenRun({ facts, view }: OpenSession): ChosenRun {
  const focused = useInspectorFocus(({ factSeq }) => factSeq);
  const [chosen, choose] = useState<string>();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the list grows; its length says when
  const runs = useMemo(() => runsIn(facts), [facts, view.seq]);
  const runId = chosen ?? outerRunId(facts, focused);
  const run = runs.find((one) => one.runId === runId) ?? runs.at(-1);
  return { runs, run, choose };
}
