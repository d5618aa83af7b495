import type { Experiment, ExperimentInfo, ScorerSummary } from "capstan/evals";
import { formatCount } from "capstan/sessions";
import { type ReactNode, useEffect } from "react";
import { useLocation, useSearchParams } from "wouter";
import { evalsClient } from "../data/evals-client.ts";
import { useRequest } from "../data/use-request.ts";
import { ConfirmButton } from "../pages/confirm-button.tsx";
import { Page, Section } from "../pages/page.tsx";
import { runWithToast } from "../shell/toasts.tsx";
import { Button } from "../ui/button.tsx";
import { escapeBidi } from "../ui/escape-text.ts";
import { formatTimeAgo } from "../ui/format-age.ts";
import { formatDuration } from "../ui/format-duration.ts";
import { ScrollRegion } from "../ui/scroll-region.tsx";
import { SelectField } from "../ui/select-field.tsx";
import { ErrorMessage, Loading } from "../ui/state.tsx";
import { ComparisonView } from "./comparison-view.tsx";
import { StatusTag } from "./experiment-list.tsx";
import { formatCaseCost, formatPercent, formatScore } from "./format-case.ts";
import { IntervalBar } from "./interval-bar.tsx";
import { ResultList } from "./result-list.tsx";

const refreshMs = 1000;

/** The results of an experiment, live while it runs, and its comparison with another one. */
export function ExperimentPage({ id }: { readonly id: string }): ReactNode {
  const [, navigate] = useLocation();
  const { value, error, retry } = useRequest(`experiment ${id}`, () => evalsClient.experiments.get(id));
  const isRunning = value?.status === "running";
  // biome-ignore lint/correctness/useExhaustiveDependencies: each value of a running experiment schedules the next
  useEffect(() => {
    if (!isRunning) return;
    const timer = setTimeout(retry, refreshMs);
    return () => clearTimeout(timer);
  }, [value, isRunning, retry]);
  return (
    <Page
      title={escapeBidi(value?.name ?? "Experiment")}
      about={value ? <About experiment={value} /> : "An experiment."}
      actions={value && <Actions experiment={value} onChange={retry} />}
    >
      {error !== undefined && <ErrorMessage message={error} onRetry={retry} />}
      {!value && error === undefined && <Loading label="Loading experiment" />}
      {value && (
        <>
          {value.error && (
            <p className="mb-4 rounded-md bg-warn-soft px-3 py-2 text-sm text-warn [overflow-wrap:anywhere]">
              {value.error.message}
            </p>
          )}
          {(isRunning || value.status === "stopped") && <Progress experiment={value} />}
          <Summary experiment={value} />
          <CompareSection experiment={value} />
          <Section title="Results">
            <ResultList experiment={value} onReview={retry} />
          </Section>
          {!isRunning && (
            <div className="mt-10">
              <ConfirmButton
                label="Delete experiment"
                name="Delete experiment"
                consequence="Its runs stay."
                onConfirm={async () => {
                  await evalsClient.experiments.remove(id);
                  navigate("/experiments");
                }}
              />
            </div>
          )}
        </>
      )}
    </Page>
  );
}

function About({ experiment }: { readonly experiment: Experiment }): ReactNode {
  const { agent, agentVersion, createdAt, cases, attempts, summary, status } = experiment;
  return (
    <span className="flex flex-wrap items-center gap-x-2">
      {`${agent}${agentVersion === undefined ? "" : `, version ${agentVersion}`} · ${formatCount(cases.length, "case")} × ${attempts} · ${formatCaseCost(summary.cost)} · ${formatDuration(summary.meanMs)} each · ${formatTimeAgo(createdAt, Date.now())}`}
      <StatusTag status={status} />
    </span>
  );
}

type ActionsProps = { readonly experiment: Experiment; readonly onChange: () => void };

function Actions({ experiment: { id, status }, onChange }: ActionsProps): ReactNode {
  const perform = (action: () => Promise<unknown>) =>
    runWithToast(async () => {
      await action();
      onChange();
    });
  if (status === "running")
    return <Button onClick={() => perform(() => evalsClient.experiments.cancel(id))}>Cancel</Button>;
  if (status === "done") return null;
  return (
    <Button kind="main" onClick={() => perform(() => evalsClient.experiments.resume(id))}>
      Continue
    </Button>
  );
}

function Progress({
  experiment: { results, cases, attempts },
}: {
  readonly experiment: Experiment;
}): ReactNode {
  const total = cases.length * attempts;
  return (
    <div className="mb-6">
      <progress
        aria-label="Progress of the experiment"
        value={results.length}
        max={total}
        className="h-1.5 w-full accent-accent"
      />
      <p
        role="status"
        className="text-xs text-quiet"
      >{`${results.length} of ${formatCount(total, "attempt")}`}</p>
    </div>
  );
}

function Summary({ experiment: { summary } }: { readonly experiment: Experiment }): ReactNode {
  const hasAgreement = summary.scorers.some(({ agreement }) => agreement);
  return (
    <Section
      title={`${formatPercent(summary.passRate)} of the attempts passed`}
      about="The mean of each scorer, from 0 to 1, with its interval of 95 %."
    >
      <ScrollRegion label="Scorers" className="relative overflow-x-auto rounded-lg border bg-raised">
        <table className="w-full min-w-[34rem] text-left text-sm">
          <thead className="border-b text-xs text-quiet">
            <tr>
              <th scope="col" className="px-3 py-2 font-medium">
                Scorer
              </th>
              <th scope="col" className="px-3 py-2 font-medium">
                Mean
              </th>
              <th scope="col" className="w-1/3 px-3 py-2 font-medium">
                Interval
              </th>
              <th scope="col" className="px-3 py-2 font-medium">
                Passed
              </th>
              {hasAgreement && (
                <th scope="col" className="px-3 py-2 font-medium">
                  As reviewed
                </th>
              )}
            </tr>
          </thead>
          <tbody className="divide-y tabular-nums">
            {summary.scorers.map((scorer) => (
              <ScorerRow key={scorer.scorer} summary={scorer} hasAgreement={hasAgreement} />
            ))}
          </tbody>
        </table>
      </ScrollRegion>
    </Section>
  );
}

type ScorerRowProps = { readonly summary: ScorerSummary; readonly hasAgreement: boolean };

function ScorerRow({ summary, hasAgreement }: ScorerRowProps): ReactNode {
  const { scorer, mean, interval, passRate, agreement, errors, cases } = summary;
  const kappa = agreement?.kappa === undefined ? "" : `, κ ${formatScore(agreement.kappa)}`;
  return (
    <tr>
      <th scope="row" className="px-3 py-2 font-medium">
        {escapeBidi(scorer)}
        {errors > 0 && <span className="block text-xs text-warn">{`${errors} without a score`}</span>}
      </th>
      {cases === 0 ? (
        <td colSpan={3} className="px-3 py-2 text-quiet">
          Applies to no case
        </td>
      ) : (
        <>
          <td className="px-3 py-2">{formatScore(mean)}</td>
          <td className="px-3 py-2">
            <IntervalBar value={mean} interval={interval} from={0} to={1} />
            <span className="text-xs text-quiet">{`${formatScore(interval[0])} to ${formatScore(interval[1])}`}</span>
          </td>
          <td className="px-3 py-2">{formatPercent(passRate)}</td>
        </>
      )}
      {hasAgreement && (
        <td className="px-3 py-2 text-quiet">
          {agreement && `${agreement.agreed} of ${agreement.reviewed}${kappa}`}
        </td>
      )}
    </tr>
  );
}

function CompareSection({ experiment }: { readonly experiment: Experiment }): ReactNode {
  const [search, setSearch] = useSearchParams();
  const against = search.get("against") ?? "";
  const { value } = useRequest("experiments", () => evalsClient.experiments.list());
  const others = (value ?? []).filter(({ id, name }) => id !== experiment.id && name === experiment.name);
  if (others.length === 0) return null;
  return (
    <Section title="Comparison">
      <SelectField
        label="Compare with"
        value={against}
        choices={[
          { value: "", label: "Compare with…" },
          ...others.map((one) => ({ value: one.id, label: describe(one) })),
        ]}
        onChange={(id) => setSearch(id === "" ? {} : { against: id })}
      />
      {against !== "" && (
        <ComparisonView
          key={`${against} ${experiment.results.length}`}
          id={experiment.id}
          earlierId={against}
        />
      )}
    </Section>
  );
}

function describe({ agent, agentVersion, createdAt, summary }: ExperimentInfo): string {
  const version = agentVersion === undefined ? "" : ` ${agentVersion}`;
  return `${agent}${version}, ${formatPercent(summary.passRate)}, ${formatTimeAgo(createdAt, Date.now())}`;
}
