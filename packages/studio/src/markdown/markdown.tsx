import { type ReactNode, useMemo, useState } from "react";
import { escapeInvisible } from "../ui/escape-text.ts";
import { Block } from "./block.tsx";
import { CitationContext, type CitationScope, type CitedSource } from "./citation-chip.tsx";
import { createBlockSplitter } from "./split-blocks.ts";

export type MarkdownProps = {
  readonly text: string;
  /** The text is still streaming: unfinished syntax at the end is closed. */
  readonly isStreaming?: boolean;
  /** Sources for `[n]`. A number without a source stays text. */
  readonly citations?: readonly CitedSource[];
  readonly onCite?: (n: number) => void;
};

const noCitations: readonly CitedSource[] = [];

/**
 * Renders untrusted text as Markdown. Marked's tokens become React elements, never an HTML string: there is nothing to
 * sanitize, raw HTML is plain text, and only elements and attributes named in this folder can be rendered. Nothing is
 * loaded from other origins.
 */
export function Markdown({
  text,
  isStreaming = false,
  citations = noCitations,
  onCite,
}: MarkdownProps): ReactNode {
  const [split] = useState(createBlockSplitter);
  const { blocks, links, rest } = split(text);
  const citationScope = useMemo<CitationScope>(
    () => ({ sources: new Map(citations.map((source) => [source.n, source])), onCite }),
    [citations, onCite],
  );
  return (
    <CitationContext value={citationScope}>
      <div dir="auto" className="min-w-0 [&>*:first-child]:mt-0 [&>*:last-child]:mb-0">
        {blocks.map((source, index) => (
          <Block
            // biome-ignore lint/suspicious/noArrayIndexKey: text only grows at its end, so positions are stable
            key={index}
            source={source}
            links={links}
            isOpen={isStreaming && index === blocks.length - 1}
          />
        ))}
        {rest !== "" && <PlainRest text={rest} />}
      </div>
    </CitationContext>
  );
}

const chunkLength = 20_000;

/** Split into chunks, so that the browser only lays out visible ones. */
function PlainRest({ text }: { readonly text: string }): ReactNode {
  const chunks = Array.from({ length: Math.ceil(text.length / chunkLength) }, (_, index) =>
    text.slice(index * chunkLength, (index + 1) * chunkLength),
  );
  return (
    <div>
      <p className="my-3 text-faint text-sm">This text is very long. The rest is shown without formatting.</p>
      {chunks.map((chunk, index) => (
        <pre
          // biome-ignore lint/suspicious/noArrayIndexKey: text only grows at its end, so positions are stable
          key={index}
          className="whitespace-pre-wrap font-sans [contain-intrinsic-size:auto_400rem] [content-visibility:auto] [overflow-wrap:anywhere]"
        >
          {escapeInvisible(chunk)}
        </pre>
      ))}
    </div>
  );
}
