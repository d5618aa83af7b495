import { Database } from "lucide-react";
import { type FormEvent, type ReactNode, useState } from "react";
import { evalsClient } from "../data/evals-client.ts";
import { useRequest } from "../data/use-request.ts";
import { ChoiceField, TextField } from "../pages/agent-fields.tsx";
import { FormActions } from "../pages/form-actions.tsx";
import { showToast } from "../shell/toasts.tsx";
import { Button, IconButton } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { ErrorMessage, Loading } from "../ui/state.tsx";

type SaveToDatasetProps = {
  readonly runId: string;
  /** The answer of the run, or the user's correction of it. */
  readonly answer: string;
};

/** A button that saves a run as a case of a dataset, with the answer that the user expects. */
export function SaveToDataset({ runId, answer }: SaveToDatasetProps): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const close = () => setOpen(false);
  return (
    <>
      <IconButton label="Save to dataset" className="size-7!" onClick={() => setOpen(true)}>
        <Database size={14} />
      </IconButton>
      <Dialog
        title="Save to dataset"
        description="The messages so far, and the answer that you expect, become a case."
        isOpen={isOpen}
        onClose={close}
      >
        <SaveForm runId={runId} answer={answer} onClose={close} />
      </Dialog>
    </>
  );
}

const newDataset = "";

function SaveForm({
  runId,
  answer,
  onClose,
}: SaveToDatasetProps & { readonly onClose: () => void }): ReactNode {
  const { value: datasets } = useRequest("datasets", () => evalsClient.datasets.list());
  const [chosen, setChosen] = useState<string>();
  const [newName, setNewName] = useState("");
  const [name, setName] = useState("");
  const [expected, setExpected] = useState(answer);
  const [notes, setNotes] = useState("");
  const [problem, setProblem] = useState<string>();
  if (!datasets) return <Loading label="Loading datasets" />;
  const dataset = chosen ?? datasets[0]?.name ?? newDataset;
  const target = dataset === newDataset ? newName.trim() : dataset;

  async function save(): Promise<void> {
    try {
      if (dataset === newDataset) await evalsClient.datasets.save(target);
      await evalsClient.datasets.saveRun(target, runId, {
        ...(name.trim() !== "" && { id: name.trim() }),
        ...(expected !== answer && { expected }),
        ...(notes !== "" && { notes }),
      });
      showToast(`Saved to ${target}.`);
      onClose();
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    }
  }
  return (
    <form
      className="grid gap-4"
      onSubmit={(event: FormEvent) => {
        event.preventDefault();
        void save();
      }}
    >
      <ChoiceField
        label="Dataset"
        value={dataset}
        choices={[
          ...datasets.map((one) => ({ value: one.name, label: one.name })),
          { value: newDataset, label: "New dataset…" },
        ]}
        onValue={setChosen}
      />
      {dataset === newDataset && (
        <TextField label="Name of the dataset" value={newName} maxLength={80} onValue={setNewName} />
      )}
      <TextField
        label="Name of the case"
        value={name}
        maxLength={120}
        hint="Optional; by default the question."
        onValue={setName}
      />
      <TextField
        label="Expected answer"
        rows={5}
        value={expected}
        hint="Correct it if the answer is wrong."
        onValue={setExpected}
      />
      <TextField label="Notes" rows={2} value={notes} onValue={setNotes} />
      {problem !== undefined && <ErrorMessage message={problem} />}
      <FormActions>
        <Button onClick={onClose}>Cancel</Button>
        <Button kind="main" type="submit" blockedBy={target === "" && "Name the new dataset."}>
          Save case
        </Button>
      </FormActions>
    </form>
  );
}
