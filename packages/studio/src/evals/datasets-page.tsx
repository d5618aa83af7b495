import { Plus } from "lucide-react";
import { type FormEvent, type ReactNode, useState } from "react";
import { Link, useLocation } from "wouter";
import { evalsClient } from "../data/evals-client.ts";
import { useRequest } from "../data/use-request.ts";
import { TextField } from "../pages/agent-fields.tsx";
import { FormActions } from "../pages/form-actions.tsx";
import { Page } from "../pages/page.tsx";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { escapeBidi } from "../ui/escape-text.ts";
import { formatTimeAgo } from "../ui/format-age.ts";
import { EmptyState, ErrorMessage, Loading } from "../ui/state.tsx";

/** Lists the datasets. */
export function DatasetsPage(): ReactNode {
  const { value, error, retry } = useRequest("datasets", () => evalsClient.datasets.list());
  const [isCreating, setCreating] = useState(false);
  const newButton = (
    <Button kind="main" onClick={() => setCreating(true)}>
      <Plus size={15} aria-hidden="true" />
      New dataset
    </Button>
  );
  return (
    <Page
      title="Datasets"
      about="Cases to evaluate an agent on: inputs, with the answers and the calls that you expect."
      actions={value !== undefined && value.length > 0 && newButton}
    >
      {error !== undefined && <ErrorMessage message={error} onRetry={retry} />}
      {!value && error === undefined && <Loading label="Loading datasets" />}
      {value?.length === 0 && (
        <EmptyState title="No datasets yet" action={newButton}>
          Write cases by hand, import a CSV or JSONL file, or save an answer from a chat.
        </EmptyState>
      )}
      {value !== undefined && value.length > 0 && (
        <ul className="divide-y rounded-lg border bg-raised">
          {value.map(({ name, description, updatedAt }) => (
            <li key={name}>
              <Link
                href={`/datasets/${encodeURIComponent(name)}`}
                className="flex min-h-11 flex-wrap items-baseline gap-x-4 px-4 py-2.5 hover:bg-sunken"
              >
                <span className="font-medium [overflow-wrap:anywhere]">{escapeBidi(name)}</span>
                <span className="min-w-0 flex-1 basis-48 text-sm text-quiet">
                  {escapeBidi(description ?? "")}
                </span>
                <span className="text-xs text-quiet">{formatTimeAgo(updatedAt, Date.now())}</span>
              </Link>
            </li>
          ))}
        </ul>
      )}
      <NewDatasetDialog isOpen={isCreating} onClose={() => setCreating(false)} />
    </Page>
  );
}

function NewDatasetDialog({ isOpen, onClose }: { readonly isOpen: boolean; onClose(): void }): ReactNode {
  const [, navigate] = useLocation();
  const [name, setName] = useState("");
  const [description, setDescription] = useState("");
  const [problem, setProblem] = useState<string>();
  async function create(): Promise<void> {
    try {
      await evalsClient.datasets.save(
        name.trim(),
        description.trim() === "" ? undefined : description.trim(),
      );
      navigate(`/datasets/${encodeURIComponent(name.trim())}`);
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    }
  }
  return (
    <Dialog title="New dataset" isOpen={isOpen} onClose={onClose}>
      <form
        className="grid gap-4"
        onSubmit={(event: FormEvent) => {
          event.preventDefault();
          void create();
        }}
      >
        <TextField label="Name" value={name} maxLength={80} problem={problem} onValue={setName} />
        <TextField label="Description" value={description} maxLength={2000} onValue={setDescription} />
        <FormActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="main" type="submit" blockedBy={name.trim() === "" && "Enter a name."}>
            Create dataset
          </Button>
        </FormActions>
      </form>
    </Dialog>
  );
}
