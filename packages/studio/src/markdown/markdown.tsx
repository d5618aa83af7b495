import { type ReactNode, useMemo, useState } from "react";
import { Block } from "./block.tsx";
import { type CitedSource, type Citing, CitingContext } from "./citation-chip.tsx";
import { blockSplitter } from "./split-blocks.ts";
import { visibleText } from "./visible-text.ts";

export type MarkdownProps = {
  readonly text: string;
  /** More is to come: what is unfinished at the end is shown as if it were finished. */
  readonly isStreaming?: boolean;
  /** What `[n]` can stand for. A number without a source stays text. */
  readonly citations?: readonly CitedSource[];
  readonly onCite?: (n: number) => void;
};

const noCitations: readonly CitedSource[] = [];

/**
 * Text of a model, or of anyone else, as Markdown. It becomes React elements from the tokens of Marked and never a string
 * of HTML: so there is nothing to sanitise and no order in which to do it, raw HTML is text like any other, and an element
 * or attribute that this folder does not name cannot come out. Nothing in it is loaded from anywhere.
 */
export function Markdown({
  text,
  isStreaming = false,
  citations = noCitations,
  onCite,
}: MarkdownProps): ReactNode {
  const [split] = useState(blockSplitter);
  const { blocks, links, rest } = split(text);
  const citing = useMemo<Citing>(
    () => ({ sources: new Map(citations.map((source) => [source.n, source])), onCite }),
    [citations, onCite],
  );
  return (
    <CitingContext value={citing}>
      <div dir="auto" className="min-w-0 [&>*:first-child]:mt-0 [&>*:last-child]:mb-0">
        {blocks.map((source, index) => (
          <Block
            // biome-ignore lint/suspicious/noArrayIndexKey: a text grows at its end, so a place is a name
            key={index}
            source={source}
            links={links}
            isOpen={isStreaming && index === blocks.length - 1}
          />
        ))}
        {rest !== "" && <PlainRest text={rest} />}
      </div>
    </CitingContext>
  );
}

const pieceLength = 20_000;

/** In pieces, so that the browser lays out only those that are on the screen. */
function PlainRest({ text }: { readonly text: string }): ReactNode {
  const pieces = Array.from({ length: Math.ceil(text.length / pieceLength) }, (_, index) =>
    text.slice(index * pieceLength, (index + 1) * pieceLength),
  );
  return (
    <div>
      <p className="my-3 text-faint text-sm">
        The text is very long. From here on it is shown as it was written.
      </p>
      {pieces.map((piece, index) => (
        <pre
          // biome-ignore lint/suspicious/noArrayIndexKey: a text grows at its end, so a place is a name
          key={index}
          className="whitespace-pre-wrap font-sans [contain-intrinsic-size:auto_400rem] [content-visibility:auto] [overflow-wrap:anywhere]"
        >
          {visibleText(piece)}
        </pre>
      ))}
    </div>
  );
}
