import type { ReactNode } from "react";
import { parseSafeLink } from "../markdown/safe-link.ts";
import { stripCodeMarks } from "../markdown/strip-code-marks.ts";
import { FileLink, parseFileAddress } from "../own-data/file-link.tsx";
import { escapeBidi, escapeInvisible } from "../ui/escape-text.ts";
import { ExternalLink } from "../ui/external-link.tsx";
import { WidgetFrame } from "./widget-frame.tsx";
import type { SourcePassage, SourcesProps } from "./widget-props.ts";

/** Passages with their sources. Cited text is highlighted. */
export function SourcesWidget({ title, sources }: SourcesProps): ReactNode {
  const count = sources.length === 1 ? "1 source" : `${sources.length} sources`;
  return (
    <WidgetFrame label="Sources" title={title} note={count}>
      {sources.length === 0 && <p className="px-3 py-4 text-quiet text-sm">No sources found.</p>}
      <ol className="divide-y">
        {sources.map((source, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: passages are not unique, and the list does not change
          <Passage key={index} source={source} />
        ))}
      </ol>
    </WidgetFrame>
  );
}

const linkStyle =
  "font-medium text-accent text-sm underline decoration-accent/40 underline-offset-2 [overflow-wrap:anywhere]";

function Passage({ source }: { readonly source: SourcePassage }): ReactNode {
  const { n, title, place, url, file, text, cited = [] } = source;
  const link = url === undefined ? undefined : parseSafeLink(url, title);
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
            <ExternalLink href={link.href} address={link.address} className={linkStyle}>
              {escapeBidi(title)}
            </ExternalLink>
          ) : parseFileAddress(file) !== undefined ? (
            <FileLink address={file} className={linkStyle}>
              {escapeBidi(title)}
            </FileLink>
          ) : (
            <span className="font-medium text-sm [overflow-wrap:anywhere]">{escapeBidi(title)}</span>
          )}
          <p className="text-faint text-xs [overflow-wrap:anywhere]">
            {[place, link?.address ?? url]
              .filter((part) => part !== undefined)
              .map(escapeInvisible)
              .join(" · ")}
          </p>
        </div>
      </div>
      <p className="mt-1.5 max-h-60 overflow-y-auto whitespace-pre-wrap text-sm [overflow-wrap:anywhere]">
        {splitCitedParts(stripCodeMarks(text), cited.map(stripCodeMarks)).map((part, index) =>
          part.isCited ? (
            <mark
              // biome-ignore lint/suspicious/noArrayIndexKey: parts are identified by position
              key={index}
              className="rounded-sm bg-accent-soft px-0.5 text-ink underline decoration-accent decoration-2"
            >
              {escapeBidi(part.text)}
            </mark>
          ) : (
            escapeBidi(part.text)
          ),
        )}
      </p>
    </li>
  );
}

type Part = { readonly text: string; readonly isCited: boolean };

/** Splits the text at cited passages and merges overlaps. Whitespace may differ from the quote. */
export function splitCitedParts(text: string, cited: readonly string[]): readonly Part[] {
  const ranges = cited.flatMap((quote) => findRanges(text, quote)).sort((left, right) => left[0] - right[0]);
  const parts: Part[] = [];
  let end = 0;
  for (const [from, to] of ranges) {
    if (to <= end) continue;
    const start = Math.max(from, end);
    if (start > end) parts.push({ text: text.slice(end, start), isCited: false });
    parts.push({ text: text.slice(start, to), isCited: true });
    end = to;
  }
  if (end < text.length) parts.push({ text: text.slice(end), isCited: false });
  return parts;
}

function findRanges(text: string, quote: string): [number, number][] {
  const pieces = quote.trim().split(/\s+/).filter(Boolean).slice(0, 400);
  if (pieces.length === 0) return [];
  const pattern = pieces.map((piece) => piece.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&")).join("\\s+");
  // A single word matches at the start of a word only: not the "valid" in "invalid".
  const isWord = pieces.length === 1 && /^[\p{L}\p{N}]+$/u.test(quote.trim());
  const expression = isWord ? `(?<![\\p{L}\\p{N}])${pattern}[\\p{L}\\p{N}]*` : pattern;
  return [...text.matchAll(new RegExp(expression, "giu"))].map((match) => [
    match.index,
    match.index + match[0].length,
  ]);
}
