import { useMemo, useState } from "react";
import type { OpenSession } from "../data/open-session.ts";
import { useInspectorFocus } from "./focus.ts";
import { collectRuns, findRootRunId, type RunSummary } from "./session-runs.ts";

type SelectedRun = {
  readonly runs: readonly RunSummary[];
  readonly run: RunSummary | undefined;
  readonly select: (runId: string) => void;
};

/** Returns the selected run, the run of the focused fact, or the newest. */
export function useSelectedRun({ facts, view }: OpenSession): SelectedRun {
  const focused = useInspectorFocus(({ factSeq }) => factSeq);
  const [selectedId, select] = useState<string>();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the list grows; its length tells when
  const runs = useMemo(() => collectRuns(facts), [facts, view.seq]);
  const runId = selectedId ?? findRootRunId(facts, focused);
  const run = runs.find((candidate) => candidate.runId === runId) ?? runs.at(-1);
  return { runs, run, select };
}
