import type { Fact } from "capstan";
import type { Difference } from "capstan/client";
import { ArrowLeftRight } from "lucide-react";
import { type ReactNode, useMemo } from "react";
import { Link, useLocation } from "wouter";
import { ListToggle } from "../chat/conversation-header.tsx";
import { client } from "../data/client.ts";
import { useOpenSession } from "../data/open-session.ts";
import { useAnswer } from "../data/use-request.ts";
import { ScrollRegion } from "../markdown/scroll-region.tsx";
import { IconButton } from "../ui/button.tsx";
import { Failure, Loading } from "../ui/state.tsx";
import { CompareFigures } from "./compare-figures.tsx";
import { CompareTurns } from "./compare-turns.tsx";
import { RunChooser } from "./run-chooser.tsx";
import { sideTurns } from "./run-sides.ts";

type CompareProps = { readonly left: string; readonly right: string };

/** Two runs beside each other, with what differs marked. */
export function Compare({ left, right }: CompareProps): ReactNode {
  const [, go] = useLocation();
  const found = useAnswer(`${left} ${right}`, async () => {
    const [first, second] = await Promise.all([client.runs.get(left), client.runs.get(right)]);
    return { left: first.sessionId, right: second.sessionId };
  });
  const choose = (first: string, second: string) =>
    go(`/compare/${encodeURIComponent(first)}/${encodeURIComponent(second)}`);
  const ids = found.value;
  return (
    <>
      <header className="flex h-12 shrink-0 items-center gap-1 border-b px-2 sm:px-3">
        <ListToggle />
        <h1 className="flex-1 truncate px-1 text-sm font-medium">Compare two runs</h1>
        <IconButton label="Swap the sides" onClick={() => choose(right, left)}>
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
          {found.error !== undefined && <Failure message={found.error} onRetry={found.again} />}
          {!ids && found.error === undefined && <Loading />}
          {ids && <Compared left={left} right={right} ids={ids} />}
        </div>
      </ScrollRegion>
    </>
  );
}

type ComparedProps = CompareProps & { readonly ids: { readonly left: string; readonly right: string } };

function Compared({ left, right, ids }: ComparedProps): ReactNode {
  const [first, second] = [useOpenSession(ids.left), useOpenSession(ids.right)];
  const [before, after] = [first?.facts ?? none, second?.facts ?? none];
  const [beforeSeq, afterSeq] = [first?.view.seq ?? 0, second?.view.seq ?? 0];
  // biome-ignore lint/correctness/useExhaustiveDependencies: the lists grow; the positions say when
  const turns = useMemo(
    () => ({ left: sideTurns(before, left), right: sideTurns(after, right) }),
    [before, after, left, right, beforeSeq, afterSeq],
  );
  // While a run is on, it is compared again after each of its turns.
  const stage = `${stageOf(before, left)} ${stageOf(after, right)}`;
  const { value, error, again } = useAnswer(`${left} ${right} ${stage}`, async () => ({
    of: `${left} ${right}`,
    difference: await client.runs.difference(left, right),
  }));
  if (error !== undefined) return <Failure message={error} onRetry={again} />;
  if (value?.of !== `${left} ${right}`) return <Loading label="Comparing" />;
  const { difference } = value;
  return (
    <>
      <p role="status" className="text-sm">
        {left === right
          ? "This is the same run on both sides. Choose another one above."
          : verdict(difference)}{" "}
        <SessionLinks ids={ids} />
      </p>
      <CompareFigures difference={difference} turns={{ left: turns.left.size, right: turns.right.size }} />
      <CompareTurns difference={difference} turns={turns} />
    </>
  );
}

/** How two runs compare, in a sentence. */
function verdict({ isSame, question, turns }: Difference): string {
  if (isSame) return "Both runs did and said the same.";
  const changed = turns.filter(({ type }) => type !== "same").length;
  const asked = question ? "They were asked different things; " : "";
  if (changed === 0) return `${asked || "They ended differently; "}all turns are the same.`;
  return `${asked}${changed} of ${turns.length} turns differ.`;
}

const none: readonly Fact[] = [];

function stageOf(facts: readonly Fact[], runId: string): number {
  return facts.filter((fact) => fact.runId === runId && (fact.type === "turn_end" || fact.type === "done"))
    .length;
}

function SessionLinks({ ids }: Pick<ComparedProps, "ids">): ReactNode {
  const look = "text-accent underline underline-offset-2";
  return (
    <span className="text-quiet">
      Open the session{" "}
      <Link href={`/sessions/${encodeURIComponent(ids.left)}`} className={look}>
        on the left
      </Link>{" "}
      or{" "}
      <Link href={`/sessions/${encodeURIComponent(ids.right)}`} className={look}>
        on the right
      </Link>
      .
    </span>
  );
}
