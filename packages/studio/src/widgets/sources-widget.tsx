import type { ReactNode } from "react";
import { passageText } from "../markdown/passage-text.ts";
import { safeLink } from "../markdown/safe-link.ts";
import { steadyText, visibleText } from "../markdown/visible-text.ts";
import { OutsideLink } from "../ui/outside-link.tsx";
import { WidgetFrame } from "./widget-frame.tsx";
import type { SourcePassage, SourcesProps } from "./widget-props.ts";

/** Passages with their titles, the words that were used marked. */
export function SourcesWidget({ title, sources }: SourcesProps): ReactNode {
  const count = sources.length === 1 ? "1 source" : `${sources.length} sources`;
  return (
    <WidgetFrame label="Sources" title={title} note={count}>
      {sources.length === 0 && <p className="px-3 py-4 text-quiet text-sm">Nothing was found.</p>}
      <ol className="divide-y">
        {sources.map((source, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a passage may come twice, and the list does not change
          <Passage key={index} source={source} />
        ))}
      </ol>
    </WidgetFrame>
  );
}

function Passage({ source }: { readonly source: SourcePassage }): ReactNode {
  const { n, title, place, url, text, cited = [] } = source;
  const link = url === undefined ? undefined : safeLink(url, title);
  return (
    <li className="px-3 py-3">
      <div className="flex items-baseline gap-2">
        {n !== undefined && (
          <span className="inline-flex min-w-5 shrink-0 justify-center rounded bg-accent-soft px-1 font-medium text-accent text-xs tabular-nums">
            {n}
          </span>
        )}
        <div className="min-w-0">
          {link ? (
            <OutsideLink
              href={link.href}
              address={link.address}
              className="font-medium text-accent text-sm underline decoration-accent/40 underline-offset-2 [overflow-wrap:anywhere]"
            >
              {steadyText(title)}
            </OutsideLink>
          ) : (
            <span className="font-medium text-sm [overflow-wrap:anywhere]">{steadyText(title)}</span>
          )}
          <p className="text-faint text-xs [overflow-wrap:anywhere]">
            {[place, link?.address ?? url]
              .filter((part) => part !== undefined)
              .map(visibleText)
              .join(" · ")}
          </p>
        </div>
      </div>
      <p className="mt-1.5 max-h-60 overflow-y-auto whitespace-pre-wrap text-sm [overflow-wrap:anywhere]">
        {markedParts(passageText(text), cited.map(passageText)).map(({ words, isCited }, index) =>
          isCited ? (
            <mark
              // biome-ignore lint/suspicious/noArrayIndexKey: a part has no other name than its place
              key={index}
              className="rounded-sm bg-accent-soft px-0.5 text-ink underline decoration-accent decoration-2"
            >
              {steadyText(words)}
            </mark>
          ) : (
            steadyText(words)
          ),
        )}
      </p>
    </li>
  );
}

type Part = { readonly words: string; readonly isCited: boolean };

/** The text cut where cited words begin and end; what overlaps is one mark. Spaces may differ, as they do in quotes. */
export function markedParts(text: string, cited: readonly string[]): readonly Part[] {
  const ranges = cited.flatMap((words) => rangesOf(text, words)).sort((left, right) => left[0] - right[0]);
  const parts: Part[] = [];
  let end = 0;
  for (const [from, to] of ranges) {
    if (to <= end) continue;
    const start = Math.max(from, end);
    if (start > end) parts.push({ words: text.slice(end, start), isCited: false });
    parts.push({ words: text.slice(start, to), isCited: true });
    end = to;
  }
  if (end < text.length) parts.push({ words: text.slice(end), isCited: false });
  return parts;
}

function rangesOf(text: string, words: string): [number, number][] {
  const pieces = words.trim().split(/\s+/).filter(Boolean).slice(0, 400);
  if (pieces.length === 0) return [];
  const pattern = pieces.map((piece) => piece.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&")).join("\\s+");
  // A word alone is marked where a word begins with it, to the end: not the "valid" in "invalid".
  const isWord = pieces.length === 1 && /^[\p{L}\p{N}]+$/u.test(words.trim());
  const whole = isWord ? `(?<![\\p{L}\\p{N}])${pattern}[\\p{L}\\p{N}]*` : pattern;
  return [...text.matchAll(new RegExp(whole, "giu"))].map((found) => [
    found.index,
    found.index + found[0].length,
  ]);
}
