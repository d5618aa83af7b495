import { formatCount } from "capstan/sessions";
import { type ReactNode, useMemo, useState } from "react";
import { Button } from "../ui/button.tsx";
import { classNames } from "../ui/class-names.ts";
import { CopyButton } from "../ui/copy-button.tsx";
import { escapeInvisible } from "../ui/escape-text.ts";
import { ScrollRegion } from "../ui/scroll-region.tsx";
import { type DiffHunk, type DiffLine, pairLines, parseDiff } from "./parse-diff.ts";
import { Choice, WidgetFrame } from "./widget-frame.tsx";
import type { DiffProps } from "./widget-props.ts";

const initialLines = 120;
const maxLines = 5000;
const views = [
  { value: "unified", name: "Unified" },
  { value: "split", name: "Side by side" },
] as const;

/** A diff whose lines are marked by sign, color and screen reader text. */
export function DiffWidget({ path, diff }: DiffProps): ReactNode {
  const { hunks, added, removed, files } = useMemo(() => parseDiff(diff), [diff]);
  const [view, setView] = useState<"unified" | "split">("unified");
  const [isWhole, setWhole] = useState(false);
  const total = hunks.reduce((sum, { lines }) => sum + lines.length, 0);
  const limit = isWhole ? maxLines : initialLines;
  const shown = takeLines(hunks, limit);
  const hasFiles = files.length > 1 || files.some((file) => file.includes(" → "));
  const title = files.length > 1 ? `${files.length} files` : escapeInvisible(path ?? files[0] ?? "Changes");
  return (
    <WidgetFrame
      label="Changes"
      title={title}
      note={`+${added} −${removed}`}
      tools={
        <>
          <Choice label="View" options={views} value={view} onChoose={setView} />
          <CopyButton label="Copy diff" text={() => diff} />
        </>
      }
    >
      {total === 0 && files.length === 0 && <p className="px-3 py-4 text-quiet text-sm">No changes.</p>}
      <ScrollRegion
        label={`Changed lines of ${title}`}
        className="max-h-[32rem] overflow-auto font-mono text-small leading-normal"
      >
        {view === "unified" ? (
          <Unified hunks={shown} hasFiles={hasFiles} />
        ) : (
          <Split hunks={shown} hasFiles={hasFiles} />
        )}
      </ScrollRegion>
      {total > limit && (
        <div className="border-t px-3 py-2 text-quiet text-sm">
          {isWhole ? (
            `${formatCount(total - limit, "more line")}. Copy the diff to see all.`
          ) : (
            <Button size="small" kind="quiet" onClick={() => setWhole(true)}>
              Show {Math.min(total, maxLines) - limit} more lines
            </Button>
          )}
        </div>
      )}
    </WidgetFrame>
  );
}

function takeLines(hunks: readonly DiffHunk[], limit: number): readonly DiffHunk[] {
  let remaining = limit;
  const shown: DiffHunk[] = [];
  for (const hunk of hunks) {
    if (remaining <= 0) break;
    shown.push({ ...hunk, lines: hunk.lines.slice(0, remaining) });
    remaining -= hunk.lines.length;
  }
  return shown;
}

const lineStyles = {
  same: "",
  added: "bg-good/10",
  removed: "bg-bad/10",
  note: "text-quiet italic",
} as const;
const signs = { same: " ", added: "+", removed: "−", note: " " } as const;
const changeLabels = { same: "", added: "Added: ", removed: "Removed: ", note: "" } as const;
const numberStyle = "select-none px-2 text-right align-top text-quiet tabular-nums";

type HunksProps = {
  readonly hunks: readonly DiffHunk[];
  /** Whether the diff has several files, or a renamed one, so that each is named. */
  readonly hasFiles: boolean;
};

function Unified({ hunks, hasFiles }: HunksProps): ReactNode {
  return (
    <table className="w-full border-collapse">
      <caption className="sr-only">Changed lines</caption>
      {hunks.map((hunk, hunkIndex) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: hunks are identified by position
        <tbody key={hunkIndex}>
          <HunkHead hunk={hunk} columns={4} isFirst={hunkIndex === 0} hasFiles={hasFiles} />
          {hunk.lines.map((line, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: lines are identified by position
            <tr key={index}>
              <td className={classNames(numberStyle, lineStyles[line.type])}>{line.before}</td>
              <td className={classNames(numberStyle, lineStyles[line.type])}>{line.after}</td>
              <LineCells line={line} />
            </tr>
          ))}
        </tbody>
      ))}
    </table>
  );
}

function Split({ hunks, hasFiles }: HunksProps): ReactNode {
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
      {hunks.map((hunk, hunkIndex) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: hunks are identified by position
        <tbody key={hunkIndex}>
          <HunkHead hunk={hunk} columns={6} isFirst={hunkIndex === 0} hasFiles={hasFiles} />
          {pairLines(hunk.lines).map(({ left: remaining, right }, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: lines are identified by position
            <tr key={index}>
              <td className={classNames(numberStyle, remaining && lineStyles[remaining.type])}>
                {remaining?.before}
              </td>
              <LineCells line={remaining} isWrapped />
              <td className={classNames(numberStyle, "border-l", right && lineStyles[right.type])}>
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

type HunkHeadProps = {
  readonly hunk: DiffHunk;
  readonly columns: number;
  readonly isFirst: boolean;
  readonly hasFiles: boolean;
};

function HunkHead({ hunk, columns, isFirst, hasFiles }: HunkHeadProps): ReactNode {
  if (hasFiles && hunk.file !== undefined)
    return (
      <tr className="border-y bg-sunken">
        <th scope="rowgroup" colSpan={columns} className="px-3 py-1 text-left font-medium">
          {escapeInvisible(hunk.file)}
          {hunk.lines.length === 0 && <span className="font-normal text-quiet"> renamed, not changed</span>}
        </th>
      </tr>
    );
  if (isFirst && hunk.head === "") return null;
  return (
    <tr className="bg-sunken text-quiet">
      <td colSpan={columns} className="px-3 py-0.5">
        ⋯ {escapeInvisible(hunk.head)}
      </td>
    </tr>
  );
}

type LineCellsProps = { readonly line: DiffLine | undefined; readonly isWrapped?: boolean };

const maxLineLength = 2000;

function LineCells({ line, isWrapped = false }: LineCellsProps): ReactNode {
  if (!line) return <td colSpan={2} className="bg-sunken" />;
  const sign = line.type === "added" ? "text-good" : "text-bad";
  const more = line.text.length - maxLineLength;
  return (
    <>
      <td
        className={classNames(
          "min-w-6 select-none px-1.5 text-center align-top font-semibold",
          sign,
          lineStyles[line.type],
        )}
        aria-hidden="true"
      >
        {signs[line.type]}
      </td>
      <td
        className={classNames(
          "w-full pr-3 align-top",
          isWrapped ? "whitespace-pre-wrap [overflow-wrap:anywhere]" : "whitespace-pre",
          lineStyles[line.type],
        )}
      >
        {changeLabels[line.type] !== "" && <span className="sr-only">{changeLabels[line.type]}</span>}
        {escapeInvisible(line.text.slice(0, maxLineLength))}
        {more > 0 && ` … and ${formatCount(more, "more character")}`}
      </td>
    </>
  );
}
