import { type ReactNode, type RefObject, useEffect, useRef } from "react";
import { escapeBidi } from "../ui/escape-text.ts";
import { findQuotes, splitCitedParts } from "./find-quotes.ts";
import { Markdown } from "./markdown.tsx";
import { stripCodeMarks } from "./strip-code-marks.ts";

type PassageProps = {
  readonly text: string;
  /** The name of the source or its file, which may tell its format. */
  readonly name: string;
  /** Quotes from the text to highlight. */
  readonly cited?: readonly string[];
};

const noQuotes: readonly string[] = [];

/** A passage of a source: rendered if it is Markdown, otherwise as plain text. Cited text is highlighted. */
export function Passage({ text, name, cited = noQuotes }: PassageProps): ReactNode {
  return isMarkdown(text, name) ? (
    <RenderedPassage text={text} cited={cited} />
  ) : (
    <p className="whitespace-pre-wrap [overflow-wrap:anywhere]">
      {splitCitedParts(text, cited).map((part, index) =>
        part.isCited ? (
          <mark
            // biome-ignore lint/suspicious/noArrayIndexKey: parts are identified by position
            key={index}
            className="rounded-sm bg-accent-soft px-0.5 text-ink underline decoration-2 decoration-accent"
          >
            {escapeBidi(part.text)}
          </mark>
        ) : (
          escapeBidi(part.text)
        ),
      )}
    </p>
  );
}

/** Code, tables and mail would lose their form. */
const otherFormats =
  /\.(?:c|cc|cpp|cs|css|csv|eml|go|h|java|js|json|jsx|kt|lua|php|py|rb|rs|sh|sql|swift|toml|ts|tsv|tsx|ya?ml)(?:$|[\s#?:,])/i;
const markdownSigns = [
  /^#{1,6} \S/m,
  /^(?:```|~~~)/m,
  /^\|?[ :]*-{3,}[ :]*\|/m,
  /^ {0,3}(?:[-*+]|\d{1,9}[.)]) \S/m,
  /\[[^\]\n]+\]\([^)\s]+\)/,
  /\*\*[^*\n]+\*\*/,
  /`[^`\n]+`/,
];

/** Whether a passage looks like Markdown and does not come from a file of another format. */
export function isMarkdown(text: string, name: string): boolean {
  return !otherFormats.test(name) && markdownSigns.some((sign) => sign.test(text));
}

function RenderedPassage({ text, cited }: Required<Omit<PassageProps, "name">>): ReactNode {
  const container = useRef<HTMLDivElement>(null);
  useHighlights(container, text, cited);
  return (
    <div ref={container}>
      <Markdown text={text} />
    </div>
  );
}

/** Highlights quotes in the rendered text, across its elements. Browsers without the API show the text as it is. */
function useHighlights(
  container: RefObject<HTMLElement | null>,
  text: string,
  cited: readonly string[],
): void {
  useEffect(() => {
    const { current: element } = container;
    if (!element || !text || cited.length === 0 || !("highlights" in CSS)) return;
    const ranges = findRanges(element, cited);
    const highlight = CSS.highlights.get("cited") ?? new Highlight();
    for (const range of ranges) highlight.add(range);
    CSS.highlights.set("cited", highlight);
    return () => {
      for (const range of ranges) highlight.delete(range);
    };
  }, [container, text, cited]);
}

function findRanges(element: HTMLElement, cited: readonly string[]): readonly Range[] {
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  const nodes: { readonly node: Node; readonly from: number; readonly to: number }[] = [];
  let shown = "";
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const content = node.textContent ?? "";
    nodes.push({ node, from: shown.length, to: shown.length + content.length });
    shown += content;
  }
  const locate = (at: number) => nodes.find(({ from, to }) => at >= from && at <= to);
  return cited.flatMap((quote) =>
    findQuotes(shown, stripMarks(quote)).flatMap(([from, to]) => {
      const [start, end] = [locate(from), locate(to)];
      if (!start || !end) return [];
      const range = new Range();
      range.setStart(start.node, from - start.from);
      range.setEnd(end.node, to - end.from);
      return [range];
    }),
  );
}

/** A quote as it reads when rendered. */
function stripMarks(quote: string): string {
  return stripCodeMarks(quote)
    .replace(/^\s*(?:#{1,6}|[-*+>]|\d{1,9}[.)])\s+/gm, "")
    .replace(/\[([^\]]+)\]\([^)]*\)/g, "$1")
    .replace(/\*\*|__/g, "");
}
