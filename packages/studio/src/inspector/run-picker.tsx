import type { ReactNode } from "react";
import { SelectField } from "../ui/select-field.tsx";
import type { RunChoice } from "./session-runs.ts";

type RunPickerProps = {
  readonly runs: readonly RunChoice[];
  readonly runId: string;
  readonly onChange: (runId: string) => void;
};

/** Which run of the session is looked at; nothing when there is but one. */
export function RunPicker({ runs, runId, onChange }: RunPickerProps): ReactNode {
  if (runs.length < 2) return null;
  const choices = runs.map((run, at) => ({ value: run.runId, label: runLabel(run, at) }));
  return <SelectField label="Run" value={runId} choices={choices} onChange={onChange} />;
}

/** A run in a few words. */
export function runLabel({ question }: Pick<RunChoice, "question">, at: number): string {
  const words = question.replace(/\s+/g, " ").trim();
  return `${at + 1}. ${words.length > 48 ? `${words.slice(0, 47)}…` : words || "Without words"}`;
}
