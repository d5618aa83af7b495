import type { CaseResult, Experiment, Score } from "capstan/evals";
import { Check, ThumbsDown, ThumbsUp, X } from "lucide-react";
import type { ReactNode } from "react";
import { Link } from "wouter";
import { evalsClient } from "../data/evals-client.ts";
import { Markdown } from "../markdown/markdown.tsx";
import { runWithToast } from "../shell/toasts.tsx";
import { IconButton } from "../ui/button.tsx";
import { escapeBidi } from "../ui/escape-text.ts";
import { formatDuration } from "../ui/format-duration.ts";
import { CaseQuestion } from "./case-question.tsx";
import { formatCaseCost, formatCaseValue, formatScore } from "./format-case.ts";

type ResultListProps = { readonly experiment: Experiment; readonly onReview: () => void };

/** The attempts by case: the answer, the scores with their reasons, and the user's own verdict. */
export function ResultList({ experiment, onReview }: ResultListProps): ReactNode {
  const { id, cases, results } = experiment;
  const known = cases.filter((one) => results.some(({ caseId }) => caseId === one.id));
  return (
    <ul className="grid gap-3">
      {known.map((one) => (
        <li key={one.id} className="rounded-lg border bg-raised px-4 py-3">
          <h3 className="text-sm font-medium [overflow-wrap:anywhere]">{escapeBidi(one.id)}</h3>
          <CaseQuestion evalCase={one} />
          {one.expected !== undefined && (
            <p className="line-clamp-2 text-xs text-quiet [overflow-wrap:anywhere]">
              Expected: {escapeBidi(formatCaseValue(one.expected))}
            </p>
          )}
          <ul className="mt-2 divide-y">
            {results
              .filter(({ caseId }) => caseId === one.id)
              .map((result) => (
                <Attempt key={result.attempt} experimentId={id} result={result} onReview={onReview} />
              ))}
          </ul>
        </li>
      ))}
    </ul>
  );
}

type AttemptProps = {
  readonly experimentId: string;
  readonly result: CaseResult;
  readonly onReview: () => void;
};

function Attempt({ experimentId, result, onReview }: AttemptProps): ReactNode {
  const { attempt, caseId, text, scores, passed, error, sessionId, cost, ms, review } = result;
  function setReview(verdict: boolean): void {
    const isSame = review?.passed === verdict;
    runWithToast(async () => {
      await evalsClient.experiments.review(experimentId, {
        caseId,
        attempt,
        ...(!isSame && { passed: verdict }),
      });
      onReview();
    });
  }
  return (
    <li className="flex gap-3 py-2">
      <span className={`mt-0.5 ${passed ? "text-good" : "text-bad"}`}>
        {passed ? <Check size={16} aria-hidden="true" /> : <X size={16} aria-hidden="true" />}
        <span className="sr-only">{passed ? "Passed" : "Failed"}</span>
      </span>
      <div className="min-w-0 flex-1">
        <div className="line-clamp-3 text-sm [overflow-wrap:anywhere]">
          {text.trim() === "" ? "No answer" : <Markdown text={text} />}
        </div>
        {error && <p className="text-xs text-bad [overflow-wrap:anywhere]">{escapeBidi(error.message)}</p>}
        <ul className="mt-1 flex flex-wrap gap-x-3 gap-y-1 text-xs">
          {scores.map((score) => (
            <ScoreItem key={score.scorer} score={score} />
          ))}
        </ul>
        <p className="mt-1 flex flex-wrap items-center gap-x-3 text-xs text-quiet">
          {`Attempt ${attempt} · ${formatDuration(ms)} · ${formatCaseCost(cost)}`}
          {sessionId !== "" && (
            <Link
              href={`/sessions/${encodeURIComponent(sessionId)}`}
              className="inline-flex min-h-6 items-center text-accent underline underline-offset-2"
            >
              Open run<span className="sr-only">{` of ${caseId}, attempt ${attempt}`}</span>
            </Link>
          )}
        </p>
      </div>
      <div className="flex shrink-0 items-start">
        <IconButton
          label={`Good answer: ${caseId}, attempt ${attempt}`}
          isOn={review?.passed === true}
          className="max-sm:size-11"
          onClick={() => setReview(true)}
        >
          <ThumbsUp size={15} />
        </IconButton>
        <IconButton
          label={`Bad answer: ${caseId}, attempt ${attempt}`}
          isOn={review?.passed === false}
          className="max-sm:size-11"
          onClick={() => setReview(false)}
        >
          <ThumbsDown size={15} />
        </IconButton>
      </div>
    </li>
  );
}

function ScoreItem({ score }: { readonly score: Score }): ReactNode {
  const { scorer, value, passed, reason, error } = score;
  return (
    <li className="min-w-0 [overflow-wrap:anywhere]">
      <span className={error === undefined ? (passed ? "text-good" : "text-bad") : "text-warn"}>
        {escapeBidi(scorer)} {error === undefined ? formatScore(value) : "no score"}
      </span>
      {(error ?? reason) !== undefined && (
        <span className="text-quiet">{`: ${escapeBidi(error ?? reason ?? "")}`}</span>
      )}
    </li>
  );
}
