import type { ReactNode } from "react";
import { client } from "../data/client.ts";
import { useSessionList } from "../data/session-list.ts";
import { useAnswer } from "../data/use-request.ts";
import { runLabel } from "../inspector/run-picker.tsx";
import { attempt } from "../shell/toasts.tsx";
import { SelectField } from "../ui/select-field.tsx";

type RunChooserProps = {
  readonly side: "left" | "right";
  readonly runId: string;
  readonly sessionId: string | undefined;
  readonly onChoose: (runId: string) => void;
};

/** Which run stands on a side: of this session or of another one. */
export function RunChooser({ side, runId, sessionId, onChoose }: RunChooserProps): ReactNode {
  const sessions = useSessionList((list) => list.sessions) ?? [];
  const { value } = useAnswer(sessionId && `${sessionId} ${runId}`, () =>
    client.sessions.get(sessionId ?? ""),
  );
  const known = sessions.map(({ id, title }) => ({ value: id, label: title || "Without a title" }));
  if (sessionId !== undefined && !known.some((one) => one.value === sessionId))
    known.unshift({ value: sessionId, label: value?.title ?? "This session" });
  const runs = (value?.runs ?? []).map((run, at) => {
    return { value: run.runId, label: runLabel({ question: run.words }, at) };
  });
  if (!runs.some((run) => run.value === runId)) runs.unshift({ value: runId, label: "This run" });
  async function chooseSession(id: string): Promise<void> {
    const last = (await client.sessions.get(id)).runs.at(-1);
    if (last) onChoose(last.runId);
    else throw new Error("Nothing was asked in that session yet.");
  }
  const name = side === "left" ? "Left" : "Right";
  return (
    <fieldset className="grid min-w-0 gap-1.5">
      <legend className="pb-1 text-xs text-faint">{name}</legend>
      <SelectField
        label={`${name}: session`}
        value={sessionId ?? ""}
        choices={known}
        onChange={(id) => attempt(() => chooseSession(id))}
      />
      <SelectField label={`${name}: run`} value={runId} choices={runs} onChange={onChoose} />
    </fieldset>
  );
}
