import type { Fact, Policy, PolicyOverrides } from "capstan";
import { type ReactNode, useState } from "react";
import { useLocation } from "wouter";
import { client } from "../data/client.ts";
import type { OpenSession } from "../data/open-session.ts";
import { useSessionList } from "../data/session-list.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Failure, Nothing } from "../ui/state.tsx";
import { changesOf, draftOf, type PolicyDraft } from "./policy-fields.ts";
import { PolicyForm } from "./policy-form.tsx";
import { RawJson } from "./raw-json.tsx";
import { RunPicker } from "./run-picker.tsx";
import { useChosenRun } from "./use-chosen-run.ts";

/** The policy of a run; it can be changed, and the run done again with it. */
export function PolicyTab({ session }: { readonly session: OpenSession }): ReactNode {
  const { runs, run, choose } = useChosenRun(session);
  const start = run && session.facts.find((fact) => isStart(fact) && fact.runId === run.runId);
  if (!run || !start || !isStart(start))
    return <Nothing title="No policy yet">A run has one from its first moment on. Ask something.</Nothing>;
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      {runs.length > 1 && (
        <div className="flex h-10 shrink-0 items-center px-4">
          <RunPicker runs={runs} runId={run.runId} onChange={choose} />
        </div>
      )}
      <PolicyEditor key={run.runId} runId={run.runId} policy={start.policy} />
    </div>
  );
}

const isStart = (fact: Fact): fact is Extract<Fact, { type: "run_start" }> => fact.type === "run_start";

type PolicyEditorProps = { readonly runId: string; readonly policy: Policy };

function PolicyEditor({ runId, policy }: PolicyEditorProps): ReactNode {
  const [draft, setDraft] = useState<PolicyDraft>(() => draftOf(policy));
  const [asked, setAsked] = useState<PolicyOverrides>();
  const made = changesOf(policy, draft);
  const count = "changes" in made ? Object.keys(made.changes).length : 0;
  return (
    <>
      <section aria-label="Policy" className="grid min-h-0 flex-1 gap-4 overflow-y-auto px-4 py-2">
        <PolicyForm policy={policy} draft={draft} onChange={setDraft} />
      </section>
      <div className="flex shrink-0 items-center gap-2 border-t px-4 py-2.5">
        <p aria-live="polite" className="min-w-0 flex-1 text-xs text-quiet">
          {"problem" in made ? (
            <span className="text-bad">{made.problem}</span>
          ) : count > 0 ? (
            `${count} changed`
          ) : (
            "As it was"
          )}
        </p>
        <Button kind="quiet" size="small" disabled={count === 0} onClick={() => setDraft(draftOf(policy))}>
          Undo
        </Button>
        <Button
          kind="main"
          size="small"
          disabled={"problem" in made}
          onClick={() => "changes" in made && setAsked(made.changes)}
        >
          Run again with this
        </Button>
      </div>
      {asked && <RunAgain runId={runId} changes={asked} onClose={() => setAsked(undefined)} />}
    </>
  );
}

type RunAgainProps = {
  readonly runId: string;
  readonly changes: PolicyOverrides;
  readonly onClose: () => void;
};

function RunAgain({ runId, changes, onClose }: RunAgainProps): ReactNode {
  const [, go] = useLocation();
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<string>();
  const refresh = useSessionList((list) => list.refresh);
  async function again(placeOf: (started: { runId: string; sessionId: string }) => string): Promise<void> {
    setBusy(true);
    setError(undefined);
    try {
      const started = await client.runs.rerun(runId, { policy: changes });
      void refresh();
      onClose();
      go(placeOf(started));
    } catch (thrown) {
      setBusy(false);
      setError(thrown instanceof Error ? thrown.message : String(thrown));
    }
  }
  const isChanged = Object.keys(changes).length > 0;
  return (
    <Dialog title="Run again" isOpen onClose={onClose}>
      <div className="grid gap-3 text-sm">
        <p>
          The same question is asked again in a copy of this session. It calls models and tools again: that
          may cost money, and what tools change they change once more. This session stays as it is.
        </p>
        {isChanged ? (
          <RawJson label="the changes" value={changes} />
        ) : (
          <p className="text-quiet">Nothing is changed.</p>
        )}
        {error !== undefined && <Failure message={error} />}
        <div className="flex flex-wrap justify-end gap-2">
          <Button kind="quiet" onClick={onClose}>
            Cancel
          </Button>
          <Button disabled={isBusy} onClick={() => void again((made) => `/compare/${runId}/${made.runId}`)}>
            Run and compare
          </Button>
          <Button
            kind="main"
            disabled={isBusy}
            onClick={() => void again((made) => `/sessions/${encodeURIComponent(made.sessionId)}`)}
          >
            Run and open
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
