import type { McpServerInfo, McpSettingsInfo, NewMcpServer } from "capstan/client";
import { type ReactNode, useEffect, useId, useState } from "react";
import { client } from "../data/client.ts";
import { TextField } from "../pages/agent-fields.tsx";
import { FormDialog } from "../pages/form-dialog.tsx";
import { Button } from "../ui/button.tsx";
import { escapeBidi } from "../ui/escape-text.ts";
import { ErrorMessage } from "../ui/state.tsx";
import { type ServerDraft, toNewServer } from "./server-draft.ts";

type AddServerProps = {
  readonly settings: McpSettingsInfo;
  readonly onAdded: (servers: readonly McpServerInfo[]) => void;
  readonly onClose: () => void;
};

const emptyDraft: ServerDraft = {
  kind: "url",
  name: "",
  url: "",
  headers: "",
  command: "",
  args: "",
  env: "",
};

/** A form for another MCP server. */
export function AddServer({ settings, onAdded, onClose }: AddServerProps): ReactNode {
  return (
    <FormDialog title="Add an MCP server" onClose={onClose}>
      {({ close, onDirtyChange }) => (
        <AddServerForm {...{ settings, onAdded, onDirtyChange }} onCancel={close} onDone={onClose} />
      )}
    </FormDialog>
  );
}

type AddServerFormProps = Pick<AddServerProps, "settings" | "onAdded"> & {
  readonly onDirtyChange: (isDirty: boolean) => void;
  readonly onCancel: () => void;
  readonly onDone: () => void;
};

function AddServerForm({
  settings,
  onAdded,
  onDirtyChange,
  onCancel,
  onDone,
}: AddServerFormProps): ReactNode {
  const [draft, setDraft] = useState(emptyDraft);
  const [problem, setProblem] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const set = (change: Partial<ServerDraft>) => setDraft({ ...draft, ...change });
  useEffect(() => onDirtyChange(draft !== emptyDraft), [draft, onDirtyChange]);
  async function add(server: NewMcpServer): Promise<void> {
    setBusy(true);
    setProblem(undefined);
    try {
      onAdded(await client.mcp.add(draft.name.trim(), server));
      onDone();
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    } finally {
      setBusy(false);
    }
  }
  return (
    <form
      className="grid gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        const server = toNewServer(draft);
        if (typeof server === "string") setProblem(server);
        else void add(server);
      }}
    >
      <KindChoice draft={draft} settings={settings} onChange={(kind) => set({ kind })} />
      <TextField
        label="Name"
        hint="Letters, digits, - and _. Agents see its tools as mcp_<name>_<tool>."
        maxLength={41}
        value={draft.name}
        onValue={(name) => set({ name })}
      />
      {draft.kind === "url" ? (
        <>
          <TextField
            label="URL"
            placeholder="https://example.com/mcp"
            value={draft.url}
            onValue={(url) => set({ url })}
          />
          <TextField
            label="Headers"
            hint="One per line, as Name: value. Leave empty if the server has a sign-in."
            rows={2}
            value={draft.headers}
            onValue={(headers) => set({ headers })}
          />
        </>
      ) : (
        <CommandFields draft={draft} onChange={set} />
      )}
      <p className="text-sm text-quiet [overflow-wrap:anywhere]">
        Every agent gets its tools. Stored as plain text in {escapeBidi(settings.file ?? "")}, with headers
        and variables. What the server tells the model stays untrusted until you approve it.
      </p>
      {problem !== undefined && <ErrorMessage message={escapeBidi(problem)} />}
      <div className="flex justify-end gap-2">
        <Button onClick={onCancel}>Cancel</Button>
        <Button kind="main" type="submit" disabled={isBusy}>
          {isBusy ? "Starting…" : "Add"}
        </Button>
      </div>
    </form>
  );
}

type KindChoiceProps = {
  readonly draft: ServerDraft;
  readonly settings: McpSettingsInfo;
  readonly onChange: (kind: ServerDraft["kind"]) => void;
};

function KindChoice({ draft, settings: { allowsCommands }, onChange }: KindChoiceProps): ReactNode {
  const name = useId();
  const choices = [
    { kind: "url", label: "A URL", isOff: false },
    { kind: "command", label: "A program on this machine", isOff: !allowsCommands },
  ] as const;
  return (
    <fieldset className="grid gap-1">
      <legend className="text-sm font-medium">The server is</legend>
      {choices.map(({ kind, label, isOff }) => (
        <label key={kind} className="flex min-h-9 items-center gap-2 text-sm">
          <input
            {...{ type: "radio", name, disabled: isOff, checked: draft.kind === kind }}
            onChange={() => onChange(kind)}
            className="accent-accent"
          />
          <span className={isOff ? "text-quiet" : ""}>{label}</span>
        </label>
      ))}
      <p className="rounded-md bg-warn-soft px-3 py-2 text-sm text-warn">
        {allowsCommands
          ? "A program runs with the rights of this server: it can read its files and use its network. Add only programs you trust."
          : "Programs are off here, because a program runs with the rights of this server. The operator allows them with capstan serve --mcp-commands, or adds one with capstan mcp add."}
      </p>
    </fieldset>
  );
}

type CommandFieldsProps = {
  readonly draft: ServerDraft;
  readonly onChange: (change: Partial<ServerDraft>) => void;
};

function CommandFields({ draft, onChange }: CommandFieldsProps): ReactNode {
  return (
    <>
      <TextField
        label="Program"
        placeholder="npx"
        value={draft.command}
        onValue={(command) => onChange({ command })}
      />
      <TextField
        label="Arguments"
        hint="One per line."
        rows={3}
        value={draft.args}
        onValue={(args) => onChange({ args })}
      />
      <TextField
        label="Variables"
        hint="One per line, as NAME=value. NAME=${NAME} is read from the server's environment."
        rows={2}
        value={draft.env}
        onValue={(env) => onChange({ env })}
      />
    </>
  );
}
