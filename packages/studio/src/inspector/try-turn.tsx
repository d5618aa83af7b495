import type { Entry, Fact, ModelSettings, ToolSpec, Usage } from "capstan";
import type { SentTurn, TriedTurn, TurnEdits } from "capstan/client";
import { type FormEvent, type ReactNode, useEffect, useId, useRef, useState } from "react";
import { useAbout } from "../data/about.ts";
import { client } from "../data/client.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { escapeBidi, escapeInvisible } from "../ui/escape-text.ts";
import { formatDuration } from "../ui/format-duration.ts";
import { SelectField } from "../ui/select-field.tsx";
import { ErrorMessage } from "../ui/state.tsx";
import { getEntryText, listEditable, setEntryText } from "./edit-entries.ts";
import { formatTokenUsage } from "./format-facts.ts";
import { RawJson } from "./raw-json.tsx";

type MessageFact = Extract<Fact, { type: "message" }>;

type TryTurnProps = {
  readonly runId: string;
  readonly sent: SentTurn;
  readonly message: MessageFact | undefined;
  readonly onClose: () => void;
};

/** Sends the request of a turn again with changes, and shows both answers. */
export function TryTurn({ runId, sent, message, onClose }: TryTurnProps): ReactNode {
  const [tried, setTried] = useState<TriedTurn>();
  const [error, setError] = useState<string>();
  const [isSending, setSending] = useState(false);
  const answers = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (tried) answers.current?.scrollIntoView({ block: "nearest" });
  }, [tried]);
  async function send(edits: TurnEdits): Promise<void> {
    setSending(true);
    setError(undefined);
    try {
      setTried(await client.runs.tryTurn(runId, sent.turn, edits));
    } catch (thrown) {
      setError(thrown instanceof Error ? thrown.message : String(thrown));
    }
    setSending(false);
  }
  return (
    <Dialog
      title="Try again with changes"
      description={`Turn ${sent.turn}: one model call. No tool runs, and the session does not change.`}
      isOpen
      onClose={onClose}
      placement="wide"
    >
      <div className="grid gap-5">
        <EditForm sent={sent} isSending={isSending} onSend={(edits) => void send(edits)} />
        {error !== undefined && <ErrorMessage message={error} />}
        <div ref={answers} aria-live="polite" className="grid items-start gap-4 md:grid-cols-2">
          {message && <Answer title="Original answer" {...toAnswer(message)} />}
          {tried && <Answer title="New answer" {...tried} />}
        </div>
      </div>
    </Dialog>
  );
}

type EditFormProps = {
  readonly sent: SentTurn;
  readonly isSending: boolean;
  readonly onSend: (edits: TurnEdits) => void;
};

function EditForm({ sent, isSending, onSend }: EditFormProps): ReactNode {
  const models = useAbout(({ models }) => models);
  const isAdmin = useAbout(({ about }) => about?.isAdmin === true);
  const full = [sent.instructions, ...sent.notes].filter((text) => text !== "").join("\n\n");
  const [instructions, setInstructions] = useState(full);
  const [history, setHistory] = useState(sent.history);
  const [dropped, setDropped] = useState<ReadonlySet<string>>(new Set());
  const [settings, setSettings] = useState(sent.settings ? JSON.stringify(sent.settings) : "");
  const [model, setModel] = useState("");
  const [problem, setProblem] = useState<string>();

  function submit(event: FormEvent): void {
    event.preventDefault();
    const parsed = parseSettings(settings);
    setProblem(
      parsed === undefined ? 'Settings must be a JSON object, such as {"temperature":0}.' : undefined,
    );
    if (parsed === undefined) return;
    onSend({
      ...(instructions !== full && { instructions }),
      ...(history !== sent.history && { history }),
      ...(dropped.size > 0 && { tools: sent.tools.filter(({ name }) => !dropped.has(name)) }),
      ...(settings.trim() !== "" && { settings: parsed }),
      ...(model !== "" && { model }),
    });
  }
  return (
    <form onSubmit={submit} className="grid gap-4">
      {isAdmin && <Field label="Instructions" value={instructions} rows={6} onChange={setInstructions} />}
      <MessageField history={history} onChange={setHistory} />
      {isAdmin && <ToolBoxes tools={sent.tools} dropped={dropped} onChange={setDropped} />}
      <Field label="Settings (JSON)" value={settings} rows={2} onChange={setSettings} />
      {problem !== undefined && <ErrorMessage message={problem} />}
      <div className="flex flex-wrap items-center gap-3">
        <SelectField
          label="Model"
          value={model}
          choices={[
            { value: "", label: `Same model, ${sent.model}` },
            ...models.filter((name) => name !== sent.model).map((name) => ({ value: name, label: name })),
          ]}
          onChange={setModel}
        />
        <Button kind="main" type="submit" disabled={isSending}>
          {isSending ? "Sending…" : "Send"}
        </Button>
      </div>
    </form>
  );
}

function parseSettings(text: string): ModelSettings | undefined {
  if (text.trim() === "") return {};
  try {
    const parsed: unknown = JSON.parse(text);
    return typeof parsed === "object" && parsed !== null && !Array.isArray(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}

type FieldProps = {
  readonly label: string;
  readonly value: string;
  readonly rows: number;
  readonly onChange: (value: string) => void;
};

function Field({ label, value, rows, onChange }: FieldProps): ReactNode {
  const id = useId();
  return (
    <div className="grid gap-1">
      <label htmlFor={id} className="text-small font-medium">
        {label}
      </label>
      <textarea
        id={id}
        value={value}
        rows={rows}
        spellCheck={false}
        onChange={({ target }) => onChange(target.value)}
        className="w-full resize-y rounded-md border bg-raised px-3 py-2 font-mono text-xs leading-relaxed"
      />
    </div>
  );
}

type MessageFieldProps = {
  readonly history: readonly Entry[];
  readonly onChange: (history: readonly Entry[]) => void;
};

/** Edits the text of one entry of the history. */
function MessageField({ history, onChange }: MessageFieldProps): ReactNode {
  const editable = listEditable(history);
  const [chosen, setChosen] = useState(editable.findLast(({ type }) => type === "user")?.index);
  const entry = chosen === undefined ? undefined : history[chosen];
  if (chosen === undefined || !entry) return null;
  return (
    <div className="grid gap-1.5">
      <SelectField
        label="Message to edit"
        value={String(chosen)}
        choices={editable.map(({ index, label }) => ({ value: String(index), label }))}
        onChange={(value) => setChosen(Number(value))}
      />
      <Field
        label="Message"
        rows={3}
        value={getEntryText(entry) ?? ""}
        onChange={(text) => onChange(history.with(chosen, setEntryText(entry, text)))}
      />
    </div>
  );
}

type ToolBoxesProps = {
  readonly tools: readonly ToolSpec[];
  readonly dropped: ReadonlySet<string>;
  readonly onChange: (dropped: ReadonlySet<string>) => void;
};

function ToolBoxes({ tools, dropped, onChange }: ToolBoxesProps): ReactNode {
  if (tools.length === 0) return null;
  return (
    <fieldset>
      <legend className="mb-1 text-small font-medium">Tools that are offered</legend>
      <div className="flex flex-wrap gap-x-4 gap-y-1">
        {tools.map(({ name }) => (
          <label key={name} className="flex min-h-7 items-center gap-1.5 text-small">
            <input
              type="checkbox"
              checked={!dropped.has(name)}
              onChange={({ target }) => {
                const next = new Set(dropped);
                if (target.checked) next.delete(name);
                else next.add(name);
                onChange(next);
              }}
            />
            {escapeBidi(name)}
          </label>
        ))}
      </div>
    </fieldset>
  );
}

type AnswerProps = {
  readonly title: string;
  readonly text: string;
  readonly calls: readonly { readonly name: string; readonly input: unknown }[];
  readonly usage: Usage;
  readonly ms: number;
  readonly model: string;
};

function toAnswer({ entry, usage, ms, model }: MessageFact): Omit<AnswerProps, "title"> {
  const text = entry.parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("");
  const calls = entry.parts.flatMap((part) => (part.type === "call" ? [part] : []));
  return { text, calls, usage, ms, model };
}

function Answer({ title, text, calls, usage, ms, model }: AnswerProps): ReactNode {
  return (
    <section aria-label={title} className="grid min-w-0 gap-2 rounded-lg border p-3">
      <h3 className="text-small font-semibold">{title}</h3>
      <p className="text-xs text-quiet">
        {escapeBidi(model)} · {formatTokenUsage(usage)} · {formatDuration(ms)}
      </p>
      {text !== "" && (
        <p dir="auto" className="whitespace-pre-wrap text-sm [overflow-wrap:anywhere]">
          {escapeInvisible(text)}
        </p>
      )}
      {calls.map(({ name, input }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the list never changes
        <div key={index} className="grid gap-1">
          <p className="text-small">
            Calls <span className="font-medium">{escapeBidi(name)}</span>
          </p>
          <RawJson label={`the input of ${name}`} value={input} />
        </div>
      ))}
      {text === "" && calls.length === 0 && <p className="text-xs text-faint">(empty)</p>}
    </section>
  );
}
