import { type ReactNode, useMemo, useState } from "react";
import { CopyButton } from "../markdown/copy-button.tsx";
import { ScrollRegion } from "../markdown/scroll-region.tsx";
import { visibleText } from "../markdown/visible-text.ts";
import { Button } from "../ui/button.tsx";
import { classNames } from "../ui/class-names.ts";
import { type DiffHunk, type DiffLine, pairsOf, parseDiff } from "./parse-diff.ts";
import { Choice, WidgetFrame } from "./widget-frame.tsx";
import type { DiffProps } from "./widget-props.ts";

const shownAtFirst = 120;
const mostShown = 5000;
const views = [
  { value: "unified", name: "Unified" },
  { value: "split", name: "Side by side" },
] as const;

/** Changed lines, told apart by sign, colour and words. */
export function DiffWidget({ path, diff }: DiffProps): ReactNode {
  const { hunks, added, removed } = useMemo(() => parseDiff(diff), [diff]);
  const [view, setView] = useState<"unified" | "split">("unified");
  const [isWhole, setWhole] = useState(false);
  const total = hunks.reduce((sum, { lines }) => sum + lines.length, 0);
  const limit = isWhole ? mostShown : shownAtFirst;
  const shown = firstLines(hunks, limit);
  return (
    <WidgetFrame
      label="Changes"
      title={path === undefined ? undefined : visibleText(path)}
      note={`+${added} −${removed}`}
      tools={
        <>
          <Choice label="View" options={views} value={view} onChoose={setView} />
          <CopyButton label="Copy diff" text={() => diff} />
        </>
      }
    >
      {total === 0 && <p className="px-3 py-4 text-quiet text-sm">Nothing has changed.</p>}
      <ScrollRegion
        label="Changed lines"
        className="max-h-[32rem] overflow-auto font-mono text-[0.8125rem] leading-normal"
      >
        {view === "unified" ? <Unified hunks={shown} /> : <Split hunks={shown} />}
      </ScrollRegion>
      {total > limit && (
        <div className="border-t px-3 py-2 text-quiet text-sm">
          {isWhole ? (
            `${total - limit} lines more. Copy the diff to see them all.`
          ) : (
            <Button size="small" kind="quiet" onClick={() => setWhole(true)}>
              Show {Math.min(total, mostShown) - limit} lines more
            </Button>
          )}
        </div>
      )}
    </WidgetFrame>
  );
}

function firstLines(hunks: readonly DiffHunk[], limit: number): readonly DiffHunk[] {
  let left = limit;
  const shown: DiffHunk[] = [];
  for (const hunk of hunks) {
    if (left <= 0) break;
    shown.push({ ...hunk, lines: hunk.lines.slice(0, left) });
    left -= hunk.lines.length;
  }
  return shown;
}

const looks = { same: "", added: "bg-good/10", removed: "bg-bad/10", note: "text-quiet italic" } as const;
const signs = { same: " ", added: "+", removed: "−", note: " " } as const;
const words = { same: "", added: "Added: ", removed: "Removed: ", note: "" } as const;
const numberLook = "select-none px-2 text-right align-top text-quiet tabular-nums";

function Unified({ hunks }: { readonly hunks: readonly DiffHunk[] }): ReactNode {
  return (
    <table className="w-full border-collapse">
      <caption className="sr-only">Changed lines</caption>
      {hunks.map((hunk, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a hunk has no other name than its place
        <tbody key={place}>
          <HunkHead hunk={hunk} columns={4} isFirst={place === 0} />
          {hunk.lines.map((line, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a line has no other name than its place
            <tr key={index}>
              <td className={classNames(numberLook, looks[line.type])}>{line.before}</td>
              <td className={classNames(numberLook, looks[line.type])}>{line.after}</td>
              <LineCells line={line} />
            </tr>
          ))}
        </tbody>
      ))}
    </table>
  );
}

function Split({ hunks }: { readonly hunks: readonly DiffHunk[] }): ReactNode {
  return (
    <table className="w-full min-w-[40rem] table-fixed border-collapse">
      <caption className="sr-only">Changed lines, before and after</caption>
      <colgroup>
        <col className="w-12" />
        <col className="w-6" />
        <col />
        <col className="w-12" />
        <col className="w-6" />
        <col />
      </colgroup>
      {hunks.map((hunk, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a hunk has no other name than its place
        <tbody key={place}>
          <HunkHead hunk={hunk} columns={6} isFirst={place === 0} />
          {pairsOf(hunk.lines).map(({ left, right }, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a line has no other name than its place
            <tr key={index}>
              <td className={classNames(numberLook, left && looks[left.type])}>{left?.before}</td>
              <LineCells line={left} isWrapped />
              <td className={classNames(numberLook, "border-l", right && looks[right.type])}>
                {right?.after}
              </td>
              <LineCells line={right} isWrapped />
            </tr>
          ))}
        </tbody>
      ))}
    </table>
  );
}

type HunkHeadProps = { readonly hunk: DiffHunk; readonly columns: number; readonly isFirst: boolean };

function HunkHead({ hunk, columns, isFirst }: HunkHeadProps): ReactNode {
  if (isFirst && hunk.head === "") return null;
  return (
    <tr className="bg-sunken text-quiet">
      <td colSpan={columns} className="px-3 py-0.5">
        ⋯ {visibleText(hunk.head)}
      </td>
    </tr>
  );
}

type LineCellsProps = { readonly line: DiffLine | undefined; readonly isWrapped?: boolean };

const longestLine = 2000;

function LineCells({ line, isWrapped = false }: LineCellsProps): ReactNode {
  if (!line) return <td colSpan={2} className="bg-sunken" />;
  const sign = line.type === "added" ? "text-good" : "text-bad";
  const more = line.text.length - longestLine;
  return (
    <>
      <td
        className={classNames(
          "min-w-6 select-none px-1.5 text-center align-top font-semibold",
          sign,
          looks[line.type],
        )}
        aria-hidden="true"
      >
        {signs[line.type]}
      </td>
      <td
        className={classNames(
          "w-full pr-3 align-top",
          isWrapped ? "whitespace-pre-wrap [overflow-wrap:anywhere]" : "whitespace-pre",
          looks[line.type],
        )}
      >
        {words[line.type] !== "" && <span className="sr-only">{words[line.type]}</span>}
        {visibleText(line.text.slice(0, longestLine))}
        {more > 0 && ` … and ${more} characters more`}
      </td>
    </>
  );
}
