import type { Fact } from "capstan";
import type { Difference } from "capstan/client";
import { formatCount } from "capstan/sessions";
import { ArrowLeftRight } from "lucide-react";
import { type ReactNode, useMemo } from "react";
import { Link, useLocation } from "wouter";
import { client } from "../data/client.ts";
import { useOpenSession } from "../data/open-session.ts";
import { useRequest } from "../data/use-request.ts";
import { SidebarToggle } from "../shell/sidebar-toggle.tsx";
import { IconButton } from "../ui/button.tsx";
import { ScrollRegion } from "../ui/scroll-region.tsx";
import { ErrorMessage, Loading } from "../ui/state.tsx";
import { CompareStats } from "./compare-stats.tsx";
import { CompareTurns } from "./compare-turns.tsx";
import { RunChooser } from "./run-chooser.tsx";
import { collectTurns } from "./run-sides.ts";

type CompareProps = { readonly left: string; readonly right: string };

/** Two runs side by side, with the differences highlighted. */
export function Compare({ left, right }: CompareProps): ReactNode {
  const [, navigate] = useLocation();
  const sessionIds = useRequest(`${left} ${right}`, async () => {
    const [first, second] = await Promise.all([client.runs.get(left), client.runs.get(right)]);
    return { left: first.sessionId, right: second.sessionId };
  });
  const choose = (first: string, second: string) =>
    navigate(`/compare/${encodeURIComponent(first)}/${encodeURIComponent(second)}`);
  const ids = sessionIds.value;
  return (
    <>
      <header className="flex h-12 shrink-0 items-center gap-1 border-b px-2 sm:px-3">
        <SidebarToggle />
        <h1 className="flex-1 truncate px-1 text-sm font-medium">Compare runs</h1>
        <IconButton label="Swap sides" onClick={() => choose(right, left)}>
          <ArrowLeftRight size={16} />
        </IconButton>
      </header>
      <ScrollRegion label="Comparison" className="min-h-0 flex-1 overflow-y-auto [scrollbar-gutter:stable]">
        <div className="mx-auto grid max-w-5xl gap-5 px-4 py-5">
          <div className="grid grid-cols-2 gap-4">
            <RunChooser
              side="left"
              runId={left}
              sessionId={ids?.left}
              onChoose={(runId) => choose(runId, right)}
            />
            <RunChooser
              side="right"
              runId={right}
              sessionId={ids?.right}
              onChoose={(runId) => choose(left, runId)}
            />
          </div>
          {sessionIds.error !== undefined && (
            <ErrorMessage message={sessionIds.error} onRetry={sessionIds.retry} />
          )}
          {!ids && sessionIds.error === undefined && <Loading />}
          {ids && <Comparison left={left} right={right} ids={ids} />}
        </div>
      </ScrollRegion>
    </>
  );
}

type ComparisonProps = CompareProps & { readonly ids: { readonly left: string; readonly right: string } };

function Comparison({ left, right, ids }: ComparisonProps): ReactNode {
  const [first, second] = [
    useOpenSession(ids.left, { isWhole: true }),
    useOpenSession(ids.right, { isWhole: true }),
  ];
  const [before, after] = [first?.facts ?? noFacts, second?.facts ?? noFacts];
  const [beforeSeq, afterSeq] = [first?.view.seq ?? 0, second?.view.seq ?? 0];
  // biome-ignore lint/correctness/useExhaustiveDependencies: the lists grow; the positions tell when
  const turns = useMemo(
    () => ({ left: collectTurns(before, left), right: collectTurns(after, right) }),
    [before, after, left, right, beforeSeq, afterSeq],
  );
  // An active run is compared again after each turn.
  const progressKey = `${countEndedTurns(before, left)} ${countEndedTurns(after, right)}`;
  const { value, error, retry } = useRequest(`${left} ${right} ${progressKey}`, async () => ({
    runIds: `${left} ${right}`,
    difference: await client.runs.difference(left, right),
  }));
  if (error !== undefined) return <ErrorMessage message={error} onRetry={retry} />;
  if (value?.runIds !== `${left} ${right}`) return <Loading label="Comparing" />;
  const { difference } = value;
  return (
    <>
      <p role="status" className="text-sm">
        {left === right
          ? "Both sides show the same run. Choose another one above."
          : formatVerdict(difference)}{" "}
        <SessionLinks ids={ids} />
      </p>
      <CompareStats difference={difference} turns={{ left: turns.left.size, right: turns.right.size }} />
      <CompareTurns difference={difference} turns={turns} />
    </>
  );
}

function formatVerdict({ isSame, question, turns }: Difference): string {
  if (isSame) return "Both runs are identical.";
  const changed = turns.filter(({ type }) => type !== "same").length;
  const questionNote = question ? "The inputs differ; " : "";
  if (changed === 0) return `${questionNote || "The outcomes differ; "}all turns are the same.`;
  return `${questionNote}${changed} of ${formatCount(turns.length, "turn")} ${changed === 1 ? "differs" : "differ"}.`;
}

const noFacts: readonly Fact[] = [];

function countEndedTurns(facts: readonly Fact[], runId: string): number {
  return facts.filter((fact) => fact.runId === runId && (fact.type === "turn_end" || fact.type === "done"))
    .length;
}

function SessionLinks({ ids }: Pick<ComparisonProps, "ids">): ReactNode {
  const linkStyle = "text-accent underline underline-offset-2";
  return (
    <span className="text-quiet">
      Open the session{" "}
      <Link href={`/sessions/${encodeURIComponent(ids.left)}`} className={linkStyle}>
        on the left
      </Link>{" "}
      or{" "}
      <Link href={`/sessions/${encodeURIComponent(ids.right)}`} className={linkStyle}>
        on the right
      </Link>
      .
    </span>
  );
}
