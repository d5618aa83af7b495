import type { EvalCase } from "capstan/evals";
import { type FormEvent, type ReactNode, useState } from "react";
import { evalsClient } from "../data/evals-client.ts";
import { TextField } from "../pages/agent-fields.tsx";
import { FormActions } from "../pages/form-actions.tsx";
import { FormDialog } from "../pages/form-dialog.tsx";
import { Button } from "../ui/button.tsx";
import { ErrorMessage } from "../ui/state.tsx";
import { type CaseDraft, emptyDraft, fromDraft, toDraft } from "./case-draft.ts";

type CaseFormProps = {
  readonly dataset: string;
  /** Undefined for a new case. */
  readonly original: EvalCase | undefined;
  readonly onClose: () => void;
  readonly onSaved: () => void;
};

/** Adds or edits a case in a side panel. */
export function CaseForm({ dataset, original, onClose, onSaved }: CaseFormProps): ReactNode {
  const [draft, setDraft] = useState<CaseDraft>(original ? toDraft(original) : emptyDraft);
  const [problem, setProblem] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const isEmpty = draft.id.trim() === "" || draft.input.trim() === "";

  async function save(): Promise<void> {
    setBusy(true);
    try {
      await evalsClient.datasets.saveCase(dataset, fromDraft(draft, original));
      onSaved();
      onClose();
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
      setBusy(false);
    }
  }
  return (
    <FormDialog title={original ? `Case ${original.id}` : "New case"} onClose={onClose}>
      {({ close, onDirtyChange }) => {
        const change = (changes: Partial<CaseDraft>) => {
          setDraft({ ...draft, ...changes });
          onDirtyChange(true);
        };
        return (
          <form
            className="grid gap-4"
            onSubmit={(event: FormEvent) => {
              event.preventDefault();
              if (!isEmpty && !isBusy) void save();
            }}
          >
            <CaseFields draft={draft} isNew={!original} onChange={change} />
            {problem !== undefined && <ErrorMessage message={problem} />}
            <FormActions>
              <Button onClick={close}>Cancel</Button>
              <Button
                kind="main"
                type="submit"
                disabled={isBusy}
                blockedBy={isEmpty && "A case needs a name and an input."}
              >
                Save case
              </Button>
            </FormActions>
          </form>
        );
      }}
    </FormDialog>
  );
}

type CaseFieldsProps = {
  readonly draft: CaseDraft;
  /** The name of a stored case cannot be changed. */
  readonly isNew: boolean;
  readonly onChange: (changes: Partial<CaseDraft>) => void;
};

function CaseFields({ draft, isNew, onChange }: CaseFieldsProps): ReactNode {
  return (
    <>
      <TextField
        label="Name"
        value={draft.id}
        disabled={!isNew}
        maxLength={120}
        onValue={(id) => onChange({ id })}
      />
      <TextField
        label="Input"
        rows={4}
        value={draft.input}
        hint="What the user says, or a conversation as a JSON list."
        onValue={(input) => onChange({ input })}
      />
      <TextField
        label="Expected answer"
        rows={3}
        value={draft.expected}
        hint='A text, or JSON: ["these", "parts"] or a value.'
        onValue={(expected) => onChange({ expected })}
      />
      <TextField
        label="Expected calls"
        rows={3}
        value={draft.calls}
        hint='One per line: a tool, or {"name": "find", "input": {"id": 7}}.'
        onValue={(calls) => onChange({ calls })}
      />
      <TextField
        label="Forbidden tools"
        rows={2}
        value={draft.forbidden}
        hint="One per line; send_* stands for every name that starts with send_."
        onValue={(forbidden) => onChange({ forbidden })}
      />
      <TextField label="Notes" rows={2} value={draft.notes} onValue={(notes) => onChange({ notes })} />
    </>
  );
}
