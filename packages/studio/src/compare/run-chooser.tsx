import type { ReactNode } from "react";
import { client } from "../data/client.ts";
import { useSessionList } from "../data/session-list.ts";
import { useRequest } from "../data/use-request.ts";
import { formatRunLabel } from "../inspector/run-picker.tsx";
import { runWithToast } from "../shell/toasts.tsx";
import { SelectField } from "../ui/select-field.tsx";

type RunChooserProps = {
  readonly side: "left" | "right";
  readonly runId: string;
  readonly sessionId: string | undefined;
  readonly onChoose: (runId: string) => void;
};

/** Selects the run for one side, from any session. */
export function RunChooser({ side, runId, sessionId, onChoose }: RunChooserProps): ReactNode {
  const sessions = useSessionList((list) => list.sessions) ?? [];
  const { value } = useRequest(sessionId && `${sessionId} ${runId}`, () =>
    client.sessions.get(sessionId ?? ""),
  );
  const sessionChoices = sessions.map(({ id, title }) => ({ value: id, label: title || "Untitled" }));
  if (sessionId !== undefined && !sessionChoices.some((choice) => choice.value === sessionId))
    sessionChoices.unshift({ value: sessionId, label: value?.title ?? "This session" });
  const runs = (value?.runs ?? []).map((run, index) => {
    return { value: run.runId, label: formatRunLabel({ question: run.words }, index) };
  });
  if (!runs.some((run) => run.value === runId)) runs.unshift({ value: runId, label: "This run" });
  async function chooseSession(id: string): Promise<void> {
    const lastRun = (await client.sessions.get(id)).runs.at(-1);
    if (lastRun) onChoose(lastRun.runId);
    else throw new Error("That session has no runs yet.");
  }
  const name = side === "left" ? "Left" : "Right";
  return (
    <fieldset className="grid min-w-0 gap-1.5">
      <legend className="pb-1 text-xs text-faint">{name}</legend>
      <SelectField
        label={`${name}: session`}
        value={sessionId ?? ""}
        choices={sessionChoices}
        onChange={(id) => runWithToast(() => chooseSession(id))}
      />
      <SelectField label={`${name}: run`} value={runId} choices={runs} onChange={onChoose} />
    </fieldset>
  );
}
