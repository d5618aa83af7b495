import { useEffect } from "react";
import { useLocation, useSearchParams } from "wouter";
import type { OpenSession } from "../data/open-session.ts";
import { useInspectorFocus } from "../inspector/focus.ts";
import { runWithToast } from "../shell/toasts.tsx";

/** Scrolls to the run that the address names with `?run=`, once its facts are there. */
export function useRunInAddress({ id, facts, view, watch }: OpenSession): void {
  const [parameters] = useSearchParams();
  const [, navigate] = useLocation();
  const runId = parameters.get("run") ?? undefined;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the list of facts grows; its length tells when
  useEffect(() => {
    if (runId === undefined || facts.length === 0) return;
    const start = facts.find((fact) => fact.type === "run_start" && fact.runId === runId);
    if (!start && watch.hasEarlier()) return runWithToast(() => watch.loadEarlier());
    navigate(`/sessions/${encodeURIComponent(id)}`, { replace: true });
    if (start) useInspectorFocus.getState().set({ inChat: { factSeq: start.seq } });
  }, [runId, facts, view.seq]);
}
