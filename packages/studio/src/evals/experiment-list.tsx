import type { ExperimentInfo } from "capstan/evals";
import { formatCount } from "capstan/sessions";
import type { ReactNode } from "react";
import { Link } from "wouter";
import { Tag } from "../pages/page.tsx";
import { escapeBidi } from "../ui/escape-text.ts";
import { formatTimeAgo } from "../ui/format-age.ts";
import { formatCaseCost, formatPercent } from "./format-case.ts";

/** Experiments as links. */
export function ExperimentList({
  experiments,
}: {
  readonly experiments: readonly ExperimentInfo[];
}): ReactNode {
  return (
    <ul className="divide-y rounded-lg border bg-raised">
      {experiments.map((experiment) => (
        <li key={experiment.id}>
          <Link
            href={`/experiments/${encodeURIComponent(experiment.id)}`}
            className="grid min-h-11 grid-cols-[1fr_auto] items-center gap-x-4 px-4 py-2.5 hover:bg-sunken"
          >
            <span className="min-w-0">
              <span className="flex flex-wrap items-center gap-x-2 text-sm">
                <span className="font-medium [overflow-wrap:anywhere]">{escapeBidi(experiment.name)}</span>
                <span className="text-quiet">
                  {escapeBidi(experiment.agent)}
                  {experiment.agentVersion !== undefined && ` · ${experiment.agentVersion}`}
                </span>
                <StatusTag status={experiment.status} />
              </span>
              <span className="block text-xs text-quiet">
                {`${formatCount(experiment.caseCount, "case")} × ${experiment.attempts} · ${formatCaseCost(experiment.summary.cost)} · ${formatTimeAgo(experiment.createdAt, Date.now())}`}
              </span>
            </span>
            <span className="text-right text-sm tabular-nums">
              <span className="font-medium">{formatPercent(experiment.summary.passRate)}</span>
              <span className="block text-xs text-quiet">passed</span>
            </span>
          </Link>
        </li>
      ))}
    </ul>
  );
}

/** How an experiment that is not done stands. */
export function StatusTag({ status }: Pick<ExperimentInfo, "status">): ReactNode {
  if (status === "done") return null;
  return <Tag tone={status === "running" ? "accent" : "warn"}>{status}</Tag>;
}
