import { Popover } from "radix-ui";
import { createContext, type ReactNode, useContext, useRef, useState } from "react";
import { passageText } from "./passage-text.ts";
import { steadyText } from "./visible-text.ts";

/** A source that a text can point to as `[n]`. */
export type CitedSource = {
  readonly n: number;
  readonly title: string;
  readonly url?: string;
  /** The passage, or its beginning. */
  readonly excerpt?: string;
};

export type Citing = {
  readonly sources: ReadonlyMap<number, CitedSource>;
  readonly onCite: ((n: number) => void) | undefined;
};

/** The sources of the text around. A context, so that a new source draws the chips again and not the blocks. */
export const CitingContext: React.Context<Citing> = createContext<Citing>({
  sources: new Map(),
  onCite: undefined,
});

const brackets = /\[(\d{1,3}(?:\s*[,–-]\s*\d{1,3})*)\]/g;
// How variables look and words do not: then the bracket is an index. The runtime leaves the same ones alone.
const variable = /(?:^|[^\w$])(?:[a-z]|\w*[_$]\w*|[a-z]+(?:[A-Z]\w*)+|arr|args|argv)(?:\[\d+\])*$/;
const mostOfRange = 20;

/** Whether there is anything in the text that may be a citation. */
export function mayCite(text: string): boolean {
  return /\[\d/.test(text);
}

/** Text in which the numbers of known sources are chips, and other numbers stay text. */
export function CitedText({ text }: { readonly text: string }): ReactNode {
  const { sources } = useContext(CitingContext);
  const parts: ReactNode[] = [];
  let end = 0;
  for (const found of text.matchAll(brackets)) {
    const numbers = numbersOf(found[1] ?? "");
    const known = numbers.filter((n) => sources.has(n));
    if (known.length === 0 || variable.test(text.slice(Math.max(0, found.index - 40), found.index))) continue;
    parts.push(steadyText(text.slice(end, found.index)));
    for (const n of known) {
      const source = sources.get(n);
      if (source) parts.push(<CitationChip key={`${found.index}-${n}`} source={source} />);
    }
    const unknown = numbers.filter((n) => !sources.has(n));
    if (unknown.length > 0) parts.push(`[${unknown.join(", ")}]`);
    end = found.index + found[0].length;
  }
  parts.push(steadyText(text.slice(end)));
  return parts;
}

/** `1, 3-5` as 1, 3, 4, 5; nothing for a range that makes no sense. */
function numbersOf(list: string): readonly number[] {
  return list.split(",").flatMap((piece) => {
    const [from = 0, to = from] = piece.split(/[–-]/).map(Number);
    if (to < from || to - from > mostOfRange) return [];
    return Array.from({ length: to - from + 1 }, (_, index) => from + index);
  });
}

function CitationChip({ source }: { readonly source: CitedSource }): ReactNode {
  const { onCite } = useContext(CitingContext);
  const [isOpen, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  return (
    <>
      <button
        ref={button}
        type="button"
        aria-label={`Source ${source.n}: ${steadyText(source.title)}`}
        onClick={() => onCite?.(source.n)}
        onPointerEnter={(event) => event.pointerType === "mouse" && setOpen(true)}
        onPointerLeave={() => setOpen(false)}
        onFocus={() => setOpen(true)}
        onBlur={() => setOpen(false)}
        onKeyDown={(event) => event.key === "Escape" && setOpen(false)}
        className="mx-0.5 inline-flex h-[1.35em] min-w-[1.35em] items-center justify-center rounded bg-accent-soft px-1 align-[0.1em] font-medium text-[0.75em] text-accent tabular-nums hover:bg-accent hover:text-accent-ink"
      >
        {source.n}
      </button>
      {isOpen && <Preview source={source} anchor={button} />}
    </>
  );
}

type PreviewProps = {
  readonly source: CitedSource;
  readonly anchor: React.RefObject<HTMLButtonElement | null>;
};

/** Made only while it is open: an answer may have hundreds of chips. */
function Preview({ source, anchor }: PreviewProps): ReactNode {
  const virtual = anchor as React.RefObject<HTMLButtonElement>;
  return (
    <Popover.Root open>
      <Popover.Anchor virtualRef={virtual} />
      <Popover.Portal>
        <Popover.Content
          side="top"
          sideOffset={6}
          collisionPadding={12}
          aria-label={`Source ${source.n}`}
          onOpenAutoFocus={(event) => event.preventDefault()}
          onCloseAutoFocus={(event) => event.preventDefault()}
          className="pointer-events-none z-50 w-80 max-w-[calc(100vw-1.5rem)] animate-[appear_0.12s_both] rounded-lg border bg-raised p-3 text-sm shadow-lifted"
        >
          <p className="font-medium text-ink">{steadyText(source.title)}</p>
          {source.url !== undefined && (
            <p className="truncate text-faint text-xs">{steadyText(source.url)}</p>
          )}
          {source.excerpt !== undefined && (
            <p className="mt-1.5 line-clamp-5 text-quiet">
              {steadyText(passageText(source.excerpt.slice(0, 600)))}
            </p>
          )}
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  );
}
