import type { Difference } from "capstan/evals";
import type { ReactNode } from "react";
import { Link } from "wouter";
import { evalsClient } from "../data/evals-client.ts";
import { useRequest } from "../data/use-request.ts";
import { escapeBidi } from "../ui/escape-text.ts";
import { ScrollRegion } from "../ui/scroll-region.tsx";
import { ErrorMessage, Loading } from "../ui/state.tsx";
import { formatScore } from "./format-case.ts";
import { IntervalBar } from "./interval-bar.tsx";

type ComparisonViewProps = { readonly id: string; readonly earlierId: string };

/** Two experiments side by side: per scorer, then each case that changed. */
export function ComparisonView({ id, earlierId }: ComparisonViewProps): ReactNode {
  const { value, error, retry } = useRequest(`comparison ${id} ${earlierId}`, () =>
    evalsClient.experiments.compare(id, earlierId),
  );
  if (error !== undefined) return <ErrorMessage message={error} onRetry={retry} />;
  if (!value) return <Loading label="Comparing" />;
  const changed = value.cases.flatMap(({ caseId, scores, before, after }) =>
    scores
      .filter(({ difference }) => difference !== 0)
      .map((score) => ({ caseId, score, before: before[0]?.sessionId, after: after[0]?.sessionId })),
  );
  return (
    <ScrollRegion label="Comparison" className="relative mt-3 overflow-x-auto rounded-lg border bg-raised">
      <table className="w-full min-w-[44rem] text-left text-sm">
        <thead className="border-b text-xs text-quiet">
          <tr>
            {["Case", "Scorer", "Verdict", "Before", "After"].map((title) => (
              <th key={title} scope="col" className="px-3 py-2 font-medium">
                {title}
              </th>
            ))}
            <th scope="col" className="w-1/4 px-3 py-2 font-medium">
              Difference, 95 %
            </th>
          </tr>
        </thead>
        <tbody className="divide-y tabular-nums">
          {value.scorers.map((score) => (
            <tr key={score.scorer} className="bg-sunken">
              <th scope="row" className="px-3 py-2 font-medium">
                {score.cases === 1 ? "1 case" : `All ${score.cases} cases`}
              </th>
              <DifferenceCells score={score} />
            </tr>
          ))}
          {changed.map(({ caseId, score, before, after }) => (
            <tr key={`${caseId} ${score.scorer}`}>
              <th scope="row" className="max-w-48 px-3 py-2 font-normal [overflow-wrap:anywhere]">
                {escapeBidi(caseId)}
              </th>
              <DifferenceCells score={score} before={before} after={after} />
            </tr>
          ))}
        </tbody>
      </table>
      {changed.length === 0 && <p className="px-3 py-2 text-sm text-quiet">No case changed.</p>}
    </ScrollRegion>
  );
}

type DifferenceCellsProps = {
  readonly score: Difference;
  /** Sessions of the runs that the numbers come from. */
  readonly before?: string | undefined;
  readonly after?: string | undefined;
};

function DifferenceCells({ score, before, after }: DifferenceCellsProps): ReactNode {
  const { scorer, difference, interval, verdict } = score;
  return (
    <>
      <td className="px-3 py-2">{escapeBidi(scorer)}</td>
      <td className={`px-3 py-2 ${verdictTones[verdict]}`}>{verdict}</td>
      <td className="px-3 py-2">
        <RunLink value={score.before} sessionId={before} />
      </td>
      <td className="px-3 py-2">
        <RunLink value={score.after} sessionId={after} />
      </td>
      <td className="px-3 py-2">
        <IntervalBar value={difference} interval={interval} from={-1} to={1} />
        <span className="text-xs text-quiet">{`${formatScore(interval[0])} to ${formatScore(interval[1])}`}</span>
      </td>
    </>
  );
}

const verdictTones = {
  better: "font-medium text-good",
  worse: "font-medium text-bad",
  "cannot tell": "text-quiet",
};

function RunLink({
  value,
  sessionId,
}: {
  readonly value: number;
  readonly sessionId: string | undefined;
}): ReactNode {
  if (sessionId === undefined || sessionId === "") return formatScore(value);
  return (
    <Link
      href={`/sessions/${encodeURIComponent(sessionId)}`}
      className="text-accent underline underline-offset-2"
    >
      {formatScore(value)}
    </Link>
  );
}
