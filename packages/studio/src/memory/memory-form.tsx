import type { Memory } from "capstan/client/memories";
import { type FormEvent, type ReactNode, useState } from "react";
import { memoriesClient } from "../data/memories-client.ts";
import { useRequest } from "../data/use-request.ts";
import { TextField } from "../pages/agent-fields.tsx";
import { ConfirmButton } from "../pages/confirm-button.tsx";
import { FormActions } from "../pages/form-actions.tsx";
import { FormDialog } from "../pages/form-dialog.tsx";
import { Button } from "../ui/button.tsx";
import { escapeBidi } from "../ui/escape-text.ts";
import { ErrorMessage, Loading } from "../ui/state.tsx";
import { describeAuthor } from "./author-tag.tsx";

/** The memory to edit; without a path, a new one. */
export type MemoryChoice = { readonly scope: string; readonly path?: string };

type MemoryDialogProps = {
  readonly choice: MemoryChoice;
  readonly onClose: () => void;
  readonly onChanged: () => void;
};

/** Shows, edits and deletes a memory in a side panel, or adds one. */
export function MemoryDialog({ choice, onClose, onChanged }: MemoryDialogProps): ReactNode {
  const { scope, path } = choice;
  const key = path === undefined ? undefined : `memory ${scope} ${path}`;
  const { value, error, retry } = useRequest(key, () => memoriesClient.get({ scope, path: path ?? "" }));
  return (
    <FormDialog title={path === undefined ? "New memory" : "Memory"} onClose={onClose}>
      {(form) => {
        if (error !== undefined) return <ErrorMessage message={error} onRetry={retry} />;
        if (path !== undefined && !value) return <Loading label="Loading memory" />;
        return (
          <MemoryForm
            key={value?.version ?? 0}
            {...form}
            scope={scope}
            memory={value}
            onReload={retry}
            onDone={() => {
              onChanged();
              onClose();
            }}
          />
        );
      }}
    </FormDialog>
  );
}

type MemoryFormProps = {
  readonly scope: string;
  readonly memory: Memory | undefined;
  readonly close: () => void;
  readonly onDirtyChange: (isDirty: boolean) => void;
  readonly onReload: () => void;
  readonly onDone: () => void;
};

function MemoryForm({ scope, memory, close, onDirtyChange, onReload, onDone }: MemoryFormProps): ReactNode {
  const [path, setPath] = useState(memory?.path ?? "/memories/notes.md");
  const [text, setText] = useState(memory?.text ?? "");
  const [problem, setProblem] = useState<{ readonly message: string; readonly isConflict: boolean }>();
  async function save(version = memory?.version ?? 0): Promise<void> {
    try {
      await memoriesClient.save({ scope, path: path.trim(), text, version });
      onDone();
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      setProblem({ message, isConflict: Reflect.get(Object(error), "code") === "position_conflict" });
    }
  }
  async function overwrite(): Promise<void> {
    const stored = await memoriesClient.get({ scope, path }).catch(() => undefined);
    await save(stored?.version ?? 0);
  }
  return (
    <form
      className="grid gap-4"
      onSubmit={(event: FormEvent) => {
        event.preventDefault();
        void save();
      }}
    >
      {memory && <p className="text-sm text-quiet">{describeAuthor(memory)}</p>}
      <TextField
        label="Path"
        value={memory ? escapeBidi(path) : path}
        disabled={memory !== undefined}
        maxLength={200}
        {...(!memory && { hint: "Below /memories, such as /memories/preferences.md." })}
        onValue={setPath}
      />
      <TextField
        label="Text"
        rows={14}
        value={text}
        maxLength={100_000}
        onValue={(next) => {
          setText(next);
          onDirtyChange(true);
        }}
      />
      {problem && <ErrorMessage message={problem.message} />}
      {problem?.isConflict && memory && (
        <div className="flex flex-wrap gap-2">
          <Button onClick={onReload}>Use the saved version</Button>
          <Button onClick={() => void overwrite()}>Save mine instead</Button>
        </div>
      )}
      <FormActions>
        {memory && (
          <ConfirmButton
            label="Delete"
            name={`Delete ${escapeBidi(memory.path)}`}
            consequence="No agent remembers it any more. It cannot be restored."
            onConfirm={async () => {
              await memoriesClient.remove({ scope, path: memory.path });
              onDone();
            }}
          />
        )}
        <span className="flex-1" />
        <Button onClick={close}>Cancel</Button>
        <Button
          kind="main"
          type="submit"
          blockedBy={(text.trim() === "" || path.trim() === "") && "Enter a path and a text."}
        >
          Save
        </Button>
      </FormActions>
    </form>
  );
}
