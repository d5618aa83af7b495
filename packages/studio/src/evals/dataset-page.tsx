import type { EvalCase } from "capstan/evals";
import { formatCount } from "capstan/sessions";
import { FlaskConical, Plus } from "lucide-react";
import { type ReactNode, useState } from "react";
import { useLocation } from "wouter";
import { evalsClient } from "../data/evals-client.ts";
import { useRequest } from "../data/use-request.ts";
import { ConfirmButton } from "../pages/confirm-button.tsx";
import { Page, Section } from "../pages/page.tsx";
import { Button } from "../ui/button.tsx";
import { escapeBidi } from "../ui/escape-text.ts";
import { ScrollRegion } from "../ui/scroll-region.tsx";
import { EmptyState, ErrorMessage, Loading } from "../ui/state.tsx";
import { CaseForm } from "./case-form.tsx";
import { CaseImport } from "./case-import.tsx";
import { CaseQuestion } from "./case-question.tsx";
import { ExperimentList } from "./experiment-list.tsx";
import { formatCaseValue, formatExpectedCall } from "./format-case.ts";
import { StartExperiment } from "./start-experiment.tsx";

/** The cases of a dataset, and its experiments. */
export function DatasetPage({ name }: { readonly name: string }): ReactNode {
  const [, navigate] = useLocation();
  const { value, error, retry } = useRequest(`dataset ${name}`, () => evalsClient.datasets.get(name));
  const experiments = useRequest(`experiments of ${name}`, () => evalsClient.experiments.list(name));
  const [edited, setEdited] = useState<EvalCase | "new">();
  const [isStarting, setStarting] = useState(false);
  const cases = value?.cases ?? [];
  async function remove(): Promise<void> {
    await evalsClient.datasets.remove(name);
    navigate("/datasets");
  }
  return (
    <Page
      title={escapeBidi(name)}
      about={escapeBidi(value?.dataset.description ?? formatCount(cases.length, "case"))}
      actions={
        <>
          <CaseImport dataset={name} onImported={retry} />
          <Button onClick={() => setEdited("new")}>
            <Plus size={15} aria-hidden="true" />
            New case
          </Button>
          <Button
            kind="main"
            disabled={!value}
            blockedBy={value?.cases.length === 0 && "Add a case first."}
            onClick={() => setStarting(true)}
          >
            <FlaskConical size={15} aria-hidden="true" />
            Run experiment
          </Button>
        </>
      }
    >
      {error !== undefined && <ErrorMessage message={error} onRetry={retry} />}
      {!value && error === undefined && <Loading label="Loading cases" />}
      {value && cases.length === 0 && (
        <EmptyState title="No cases yet">
          Add one, or import a file with the columns id, input, expected, calls, forbidden and notes.
        </EmptyState>
      )}
      {cases.length > 0 && <CaseTable dataset={name} cases={cases} onEdit={setEdited} onChange={retry} />}
      {experiments.value !== undefined && experiments.value.length > 0 && (
        <Section title="Experiments">
          <ExperimentList experiments={experiments.value} />
        </Section>
      )}
      {value && (
        <div className="mt-10">
          <ConfirmButton
            label="Delete dataset"
            name={`Delete dataset ${name}`}
            consequence="Its cases are deleted. Experiments and runs stay."
            onConfirm={remove}
          />
        </div>
      )}
      {edited && (
        <CaseForm
          dataset={name}
          original={edited === "new" ? undefined : edited}
          onClose={() => setEdited(undefined)}
          onSaved={retry}
        />
      )}
      <StartExperiment dataset={name} isOpen={isStarting} onClose={() => setStarting(false)} />
    </Page>
  );
}

type CaseTableProps = {
  readonly dataset: string;
  readonly cases: readonly EvalCase[];
  readonly onEdit: (evalCase: EvalCase) => void;
  readonly onChange: () => void;
};

function CaseTable({ dataset, cases, onEdit, onChange }: CaseTableProps): ReactNode {
  return (
    <ScrollRegion label="Cases" className="relative overflow-x-auto rounded-lg border bg-raised">
      <table className="w-full min-w-[40rem] text-left text-sm">
        <thead className="border-b text-xs text-quiet">
          <tr>
            {["Case", "Expected", "Calls"].map((title) => (
              <th key={title} scope="col" className="px-3 py-2 font-medium">
                {title}
              </th>
            ))}
            <th scope="col" className="px-3 py-2">
              <span className="sr-only">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody className="divide-y">
          {cases.map((one) => (
            <tr key={one.id} className="align-top">
              <th scope="row" className="min-w-40 max-w-72 px-3 py-2 font-medium">
                <button
                  type="button"
                  className="min-h-6 text-left text-accent underline-offset-2 [overflow-wrap:anywhere] hover:underline"
                  onClick={() => onEdit(one)}
                >
                  {escapeBidi(one.id)}
                </button>
                <CaseQuestion evalCase={one} />
              </th>
              <Cell text={formatCaseValue(one.expected)} />
              <Cell text={(one.calls ?? []).map(formatExpectedCall).join(", ")} />
              <td className="px-3 py-1.5 text-right">
                <ConfirmButton
                  label="Delete"
                  name={`Delete the case ${one.id}`}
                  consequence="Experiments keep their own copy of it."
                  onConfirm={async () => {
                    await evalsClient.datasets.removeCase(dataset, one.id);
                    onChange();
                  }}
                />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollRegion>
  );
}

function Cell({ text }: { readonly text: string }): ReactNode {
  return (
    <td className="max-w-72 px-3 py-2">
      <span className="line-clamp-3 text-quiet [overflow-wrap:anywhere]">{escapeBidi(text)}</span>
    </td>
  );
}
