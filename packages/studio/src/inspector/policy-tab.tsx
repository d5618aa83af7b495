import type { Fact, Policy, PolicyOverrides } from "capstan";
import { type ReactNode, useState } from "react";
import { useLocation } from "wouter";
import { client } from "../data/client.ts";
import type { OpenSession } from "../data/open-session.ts";
import { useSessionList } from "../data/session-list.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { EmptyState, ErrorMessage } from "../ui/state.tsx";
import { computeChanges, type PolicyDraft, toPolicyDraft } from "./policy-fields.ts";
import { PolicyForm } from "./policy-form.tsx";
import { RawJson } from "./raw-json.tsx";
import { RunPicker } from "./run-picker.tsx";
import { useSelectedRun } from "./use-selected-run.ts";

/** The policy of a run, with an option to edit it and run again. */
export function PolicyTab({ session }: { readonly session: OpenSession }): ReactNode {
  const { runs, run, select } = useSelectedRun(session);
  const start = run && session.facts.find((fact) => isStart(fact) && fact.runId === run.runId);
  if (!run || !start || !isStart(start))
    return <EmptyState title="No policy yet">Send a message to see the policy of its run.</EmptyState>;
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      {runs.length > 1 && (
        <div className="flex min-h-10 shrink-0 items-center py-1 px-4">
          <RunPicker runs={runs} runId={run.runId} onChange={select} />
        </div>
      )}
      <PolicyEditor key={run.runId} runId={run.runId} policy={start.policy} />
    </div>
  );
}

const isStart = (fact: Fact): fact is Extract<Fact, { type: "run_start" }> => fact.type === "run_start";

type PolicyEditorProps = { readonly runId: string; readonly policy: Policy };

function PolicyEditor({ runId, policy }: PolicyEditorProps): ReactNode {
  const [draft, setDraft] = useState<PolicyDraft>(() => toPolicyDraft(policy));
  const [confirmedChanges, setConfirmedChanges] = useState<PolicyOverrides>();
  const result = computeChanges(policy, draft);
  const count = "changes" in result ? Object.keys(result.changes).length : 0;
  return (
    <>
      <section aria-label="Policy" className="grid min-h-0 flex-1 gap-4 overflow-y-auto px-4 py-2">
        <PolicyForm policy={policy} draft={draft} onChange={setDraft} />
      </section>
      <div className="flex shrink-0 items-center gap-2 border-t px-4 py-2.5">
        <p aria-live="polite" className="min-w-0 flex-1 text-xs text-quiet">
          {"problem" in result ? (
            <span className="text-bad">{result.problem}</span>
          ) : count > 0 ? (
            `${count} changed`
          ) : (
            "No changes"
          )}
        </p>
        <Button
          kind="quiet"
          size="small"
          disabled={count === 0}
          onClick={() => setDraft(toPolicyDraft(policy))}
        >
          Undo
        </Button>
        <Button
          kind="main"
          size="small"
          disabled={"problem" in result}
          onClick={() => "changes" in result && setConfirmedChanges(result.changes)}
        >
          Run again
        </Button>
      </div>
      {confirmedChanges && (
        <RunAgain runId={runId} changes={confirmedChanges} onClose={() => setConfirmedChanges(undefined)} />
      )}
    </>
  );
}

type RunAgainProps = {
  readonly runId: string;
  readonly changes: PolicyOverrides;
  readonly onClose: () => void;
};

function RunAgain({ runId, changes, onClose }: RunAgainProps): ReactNode {
  const [, navigate] = useLocation();
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<string>();
  const refresh = useSessionList((list) => list.refresh);
  async function rerun(getPath: (started: { runId: string; sessionId: string }) => string): Promise<void> {
    setBusy(true);
    setError(undefined);
    try {
      const started = await client.runs.rerun(runId, { policy: changes });
      void refresh();
      onClose();
      navigate(getPath(started));
    } catch (cause) {
      setBusy(false);
      setError(cause instanceof Error ? cause.message : String(cause));
    }
  }
  const isChanged = Object.keys(changes).length > 0;
  return (
    <Dialog title="Run again" isOpen onClose={onClose}>
      <div className="grid gap-3 text-sm">
        <p>
          This repeats the run in a copy of this session. Models and tools are called again, which may cost
          money and repeat side effects. This session does not change.
        </p>
        {isChanged ? (
          <RawJson label="the changes" value={changes} />
        ) : (
          <p className="text-quiet">No changes.</p>
        )}
        {error !== undefined && <ErrorMessage message={error} />}
        <div className="flex flex-wrap justify-end gap-2">
          <Button kind="quiet" onClick={onClose}>
            Cancel
          </Button>
          <Button
            disabled={isBusy}
            onClick={() => void rerun((newRun) => `/compare/${runId}/${newRun.runId}`)}
          >
            Run and compare
          </Button>
          <Button
            kind="main"
            disabled={isBusy}
            onClick={() => void rerun((newRun) => `/sessions/${encodeURIComponent(newRun.sessionId)}`)}
          >
            Run and open
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
