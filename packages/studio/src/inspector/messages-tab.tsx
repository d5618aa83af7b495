import type { Entry } from "capstan";
import type { WireName } from "capstan/client";
import { type ReactNode, useState } from "react";
import { client } from "../data/client.ts";
import type { OpenSession } from "../data/open-session.ts";
import { useRequest } from "../data/use-request.ts";
import { SelectField } from "../ui/select-field.tsx";
import { EmptyState, ErrorMessage, Loading } from "../ui/state.tsx";
import { EntryList } from "./entry-list.tsx";
import { RawJson } from "./raw-json.tsx";
import { RunPicker } from "./run-picker.tsx";
import { useSelectedRun } from "./use-selected-run.ts";

type Format = "read" | "entries" | WireName;

/** Formats of the history: readable, as stored, or as a provider receives it. */
export const formats: readonly { readonly value: Format; readonly label: string }[] = [
  { value: "read", label: "Readable" },
  { value: "entries", label: "As stored" },
  { value: "openai-chat", label: "OpenAI Chat" },
  { value: "openai-responses", label: "OpenAI Responses" },
  { value: "anthropic", label: "Anthropic" },
  { value: "gemini", label: "Gemini" },
];

/** The history of a run. */
export function MessagesTab({ session }: { readonly session: OpenSession }): ReactNode {
  const { runs, run, select } = useSelectedRun(session);
  const [format, setFormat] = useState<Format>("read");
  const runId = run?.runId;
  const wire = format === "read" || format === "entries" ? undefined : format;
  const key = runId && `${runId} ${wire ?? ""} ${session.view.seq}`;
  const { value, error, retry } = useRequest(key, async () => {
    const messages = await client.runs.messages(runId ?? "", { ...(wire && { wire }) });
    return { wire, messages };
  });
  if (!runId)
    return <EmptyState title="No messages yet">Send a message to see what the model receives.</EmptyState>;
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      <div className="flex min-h-10 shrink-0 items-center py-1 gap-2 px-4">
        <SelectField
          label="Format"
          value={format}
          choices={formats}
          onChange={(name) => setFormat(formats.find(({ value }) => value === name)?.value ?? "read")}
        />
        <RunPicker runs={runs} runId={runId} onChange={select} />
      </div>
      {error !== undefined && <ErrorMessage message={error} onRetry={retry} />}
      {error === undefined && value?.wire !== wire && <Loading />}
      {error === undefined && value && value.wire === wire && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable regions must be reachable by keyboard
        <section aria-label="Messages" tabIndex={0} className="min-h-0 flex-1 overflow-y-auto px-4 pb-4">
          {format === "read" ? (
            <EntryList entries={value.messages as unknown as readonly Entry[]} />
          ) : (
            <RawJson label="the messages" value={value.messages} isTall />
          )}
        </section>
      )}
    </div>
  );
}
