import { Popover } from "radix-ui";
import { createContext, type ReactNode, useContext, useRef, useState } from "react";
import { escapeBidi } from "../ui/escape-text.ts";
import { stripCodeMarks } from "./strip-code-marks.ts";

/** A source that a text can cite as `[n]`. */
export type CitedSource = {
  readonly n: number;
  readonly title: string;
  readonly url?: string;
  /** The passage or its start. */
  readonly excerpt?: string;
};

export type CitationScope = {
  readonly sources: ReadonlyMap<number, CitedSource>;
  readonly onCite: ((n: number) => void) | undefined;
};

/** Sources of the surrounding text. A context, so that a new source re-renders chips but not blocks. */
export const CitationContext: React.Context<CitationScope> = createContext<CitationScope>({
  sources: new Map(),
  onCite: undefined,
});

const brackets = /\[(\d{1,3}(?:\s*[,–-]\s*\d{1,3})*)\]/g;
// Text before the bracket that looks like a variable: the bracket is an index. Same rule as in the runtime.
const variable = /(?:^|[^\w$])(?:[a-z]|\w*[_$]\w*|[a-z]+(?:[A-Z]\w*)+|arr|args|argv)(?:\[\d+\])*$/;
const maxRangeSize = 20;

/** Cheap check for a possible citation. */
export function mayContainCitation(text: string): boolean {
  return /\[\d/.test(text);
}

/** Renders citations of known sources as chips; other numbers stay text. */
export function CitedText({ text }: { readonly text: string }): ReactNode {
  const { sources } = useContext(CitationContext);
  const parts: ReactNode[] = [];
  let end = 0;
  for (const match of text.matchAll(brackets)) {
    const numbers = parseNumbers(match[1] ?? "");
    const knownNumbers = numbers.filter((n) => sources.has(n));
    if (knownNumbers.length === 0 || variable.test(text.slice(Math.max(0, match.index - 40), match.index)))
      continue;
    parts.push(escapeBidi(text.slice(end, match.index)));
    for (const n of knownNumbers) {
      const source = sources.get(n);
      if (source) parts.push(<CitationChip key={`${match.index}-${n}`} source={source} />);
    }
    const unknownNumbers = numbers.filter((n) => !sources.has(n));
    if (unknownNumbers.length > 0) parts.push(`[${unknownNumbers.join(", ")}]`);
    end = match.index + match[0].length;
  }
  parts.push(escapeBidi(text.slice(end)));
  return parts;
}

/** Parses `1, 3-5` as 1, 3, 4, 5. Ignores invalid ranges. */
function parseNumbers(list: string): readonly number[] {
  return list.split(",").flatMap((piece) => {
    const [from = 0, to = from] = piece.split(/[–-]/).map(Number);
    if (to < from || to - from > maxRangeSize) return [];
    return Array.from({ length: to - from + 1 }, (_, index) => from + index);
  });
}

function CitationChip({ source }: { readonly source: CitedSource }): ReactNode {
  const { onCite } = useContext(CitationContext);
  const [isOpen, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  return (
    <>
      <button
        ref={button}
        type="button"
        aria-label={`Source ${source.n}: ${escapeBidi(source.title)}`}
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

/** Mounted only while open: an answer may have hundreds of chips. */
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
          <p className="font-medium text-ink">{escapeBidi(source.title)}</p>
          {source.url !== undefined && (
            <p className="truncate text-faint text-xs">{escapeBidi(source.url)}</p>
          )}
          {source.excerpt !== undefined && (
            <p className="mt-1.5 line-clamp-5 text-quiet">
              {escapeBidi(stripCodeMarks(source.excerpt.slice(0, 600)))}
            </p>
          )}
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  );
}
