import type { Json } from "capstan";
import type { McpAnswer, McpToolMetadata, ToolInfo } from "capstan/client";
import { type ReactNode, useId, useState } from "react";
import { client } from "../data/client.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { escapeBidi, escapeInvisible } from "../ui/escape-text.ts";
import { JsonText } from "../ui/json-text.tsx";
import { ErrorMessage } from "../ui/state.tsx";
import { CallResult } from "./call-result.tsx";
import { getInitialValue } from "./schema-field.ts";
import { SchemaForm } from "./schema-form.tsx";
import { JsonInput } from "./schema-inputs.tsx";

type ToolTrialProps = {
  readonly server: string;
  readonly tool: ToolInfo;
  /** With the schema of its arguments. */
  readonly metadata: McpToolMetadata;
  readonly onClose: () => void;
};

/** Calls a tool of an MCP server with arguments from a form, or as JSON. */
export function ToolTrial({ server, tool, metadata, onClose }: ToolTrialProps): ReactNode {
  const { input: schema } = metadata;
  const [input, setInput] = useState<Json | undefined>(() => getInitialValue(schema, schema) ?? {});
  const [isJson, setJson] = useState(false);
  const [isConfirming, setConfirming] = useState(false);
  const trial = useTrial();
  const isReadOnly = tool.effects === "none";
  const call = () => {
    setConfirming(false);
    void trial.call(() =>
      client.mcp.callTool({ server, tool: tool.name, input: toToolArguments(input), isConfirmed: true }),
    );
  };
  const name = escapeInvisible(tool.name);
  return (
    <Dialog title={`Try ${name}`} isOpen onClose={onClose} placement="side">
      <form
        className="grid gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          if (isReadOnly) call();
          else setConfirming(true);
        }}
      >
        <ModeSwitch isJson={isJson} onChange={setJson} />
        {isJson ? (
          <WholeJson value={input} onValue={setInput} />
        ) : (
          <SchemaForm schema={schema} root={schema} name="input" value={input} onValue={setInput} />
        )}
        <div className="flex flex-wrap items-center gap-3">
          <Button kind="main" type="submit" disabled={trial.isBusy}>
            {trial.isBusy ? "Calling…" : "Call"}
          </Button>
          <p className="min-w-0 flex-1 text-xs text-quiet">
            The call is your own: no agent decides about it, and it is in no session.
          </p>
        </div>
      </form>
      <div className="mt-4">
        {trial.problem !== undefined && <ErrorMessage message={escapeBidi(trial.problem)} />}
        {trial.answer && <CallResult answer={trial.answer} />}
      </div>
      <Dialog
        title={`Call ${name}?`}
        description="This tool may change or send something. The server decides what it does."
        isOpen={isConfirming}
        onClose={() => setConfirming(false)}
      >
        <JsonText label="Arguments" text={JSON.stringify(toToolArguments(input), undefined, 2)} />
        <div className="mt-4 flex justify-end gap-2">
          <Button data-first onClick={() => setConfirming(false)}>
            Cancel
          </Button>
          <Button kind="main" onClick={call}>
            Call
          </Button>
        </div>
      </Dialog>
    </Dialog>
  );
}

function toToolArguments(value: Json | undefined): { readonly [name: string]: Json } {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as { readonly [name: string]: Json })
    : {};
}

/** The state of a call that the user makes. */
function useTrial() {
  const [answer, setAnswer] = useState<McpAnswer>();
  const [problem, setProblem] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  async function call(send: () => Promise<McpAnswer>): Promise<void> {
    setBusy(true);
    setAnswer(undefined);
    setProblem(undefined);
    try {
      setAnswer(await send());
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    } finally {
      setBusy(false);
    }
  }
  return { answer, problem, isBusy, call };
}

type ModeSwitchProps = { readonly isJson: boolean; readonly onChange: (isJson: boolean) => void };

function ModeSwitch({ isJson, onChange }: ModeSwitchProps): ReactNode {
  const name = useId();
  return (
    <fieldset className="flex gap-4 text-sm">
      <legend className="sr-only">Arguments</legend>
      {[false, true].map((value) => (
        <label key={String(value)} className="flex min-h-8 items-center gap-2">
          <input
            type="radio"
            name={name}
            checked={isJson === value}
            onChange={() => onChange(value)}
            className="accent-accent"
          />
          {value ? "JSON" : "Form"}
        </label>
      ))}
    </fieldset>
  );
}

type WholeJsonProps = { readonly value: Json | undefined; onValue(value: Json | undefined): void };

function WholeJson({ value, onValue }: WholeJsonProps): ReactNode {
  const id = useId();
  return (
    <div className="grid gap-1">
      <label htmlFor={id} className="text-sm font-medium">
        Arguments as JSON
      </label>
      <JsonInput id={id} rows={12} value={value} onValue={onValue} />
    </div>
  );
}
