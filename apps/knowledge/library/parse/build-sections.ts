/** The text under one heading, or of one page. Long texts are split into several sections. */
export type Section = {
  /** Unique in the document: the heading as a link anchor, with a number from the second part. */
  readonly anchor: string;
  readonly heading: string;
  readonly text: string;
  /** Opens the file at the section, as the fragment of its URL: `page=3`, or a text to scroll to. */
  readonly fragment?: string;
};

/** Paragraphs, list items or lines of code under one heading. */
export type Chapter = {
  readonly heading: string;
  readonly blocks: readonly string[];
  readonly fragment?: string;
  /** A text at its start in the file, where that is not the text of the blocks. */
  readonly fileText?: string;
};

export type SectionOptions = {
  /** Browsers can scroll to a text in the file. */
  readonly isLinkedByText?: boolean;
};

const maxPartLength = 1500;

/**
 * Splits chapters into sections of up to 1,500 characters, between blocks where possible. A heading alone is a section only
 * if the document has nothing else.
 */
export function buildSections(
  chapters: readonly Chapter[],
  { isLinkedByText = false }: SectionOptions = {},
): readonly Section[] {
  const anchorCounts = new Map<string, number>();
  const hasText = chapters.some(({ blocks }) => blocks.length > 0);
  const headings = chapters.filter(({ heading, fragment }) => heading !== "" && fragment === undefined);
  const shown = hasText ? chapters : headings.map((chapter) => ({ ...chapter, blocks: [chapter.heading] }));
  return shown.flatMap(({ heading, blocks, fragment, fileText }) =>
    mergeBlocks(blocks).map((text, part) => {
      const base = toAnchor(heading);
      const count = (anchorCounts.get(base) ?? 0) + 1;
      anchorCounts.set(base, count);
      const start = fileText ?? toQuote(heading);
      const texts = part === 0 && fileText ? [fileText] : [toQuote(text), start];
      const target = fragment ?? (isLinkedByText ? buildTextFragment(texts) : undefined);
      return {
        anchor: count === 1 ? base : `${base}~${count}`,
        heading,
        text,
        ...(target && { fragment: target }),
      };
    }),
  );
}

/** Names texts to scroll to; the browser takes the first that it finds. */
function buildTextFragment(texts: readonly string[]): string {
  const quotes = texts.filter((text) => text !== "");
  // A hyphen has a meaning in text fragments.
  const encode = (quote: string) => encodeURIComponent(quote.toWellFormed()).replaceAll("-", "%2D");
  return quotes.length === 0 ? "" : `:~:${quotes.map((quote) => `text=${encode(quote)}`).join("&")}`;
}

const maxQuoteLength = 60;

/** The first words of the first line. */
function toQuote(text: string): string {
  const line = text.replace(/^(?:[\s>*+#`-]|\d+[.)]\s)+/, "").split("\n", 1)[0] ?? "";
  const isLong = line.length > maxQuoteLength;
  return (isLong ? line.slice(0, maxQuoteLength).replace(/\s*\S*$/, "") : line).trim();
}

function mergeBlocks(blocks: readonly string[]): readonly string[] {
  const parts: string[] = [];
  for (const block of blocks.flatMap(splitBlock)) {
    const last = parts.at(-1);
    if (last !== undefined && last.length + block.length < maxPartLength)
      parts[parts.length - 1] = `${last}\n\n${block}`;
    else parts.push(block);
  }
  return parts;
}

function splitBlock(block: string): readonly string[] {
  if (block.length <= maxPartLength) return [block];
  const pieces: string[] = [];
  for (let rest = block; rest !== ""; ) {
    const lineEnd = rest.length > maxPartLength ? rest.lastIndexOf("\n", maxPartLength) : rest.length;
    const end = lineEnd > 0 ? lineEnd : maxPartLength;
    pieces.push(rest.slice(0, end).toWellFormed());
    rest = rest.slice(end).replace(/^\n/, "");
  }
  return pieces;
}

function toAnchor(heading: string): string {
  return (
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, "")
      .trim()
      .replace(/\s+/g, "-")
      .slice(0, 80) || "top"
  );
}
