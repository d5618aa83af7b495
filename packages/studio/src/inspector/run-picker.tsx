import type { ReactNode } from "react";
import { SelectField } from "../ui/select-field.tsx";
import type { RunSummary } from "./session-runs.ts";

type RunPickerProps = {
  readonly runs: readonly RunSummary[];
  readonly runId: string;
  readonly onChange: (runId: string) => void;
};

/** Selects a run of the session. Hidden when there is only one. */
export function RunPicker({ runs, runId, onChange }: RunPickerProps): ReactNode {
  if (runs.length < 2) return null;
  const choices = runs.map((run, index) => ({ value: run.runId, label: formatRunLabel(run, index) }));
  return <SelectField label="Run" value={runId} choices={choices} onChange={onChange} />;
}

/** Formats a run as its number and question. */
export function formatRunLabel({ question }: Pick<RunSummary, "question">, index: number): string {
  const text = question.replace(/\s+/g, " ").trim();
  return `${index + 1}. ${text.length > 48 ? `${text.slice(0, 47)}…` : text || "(empty)"}`;
}
