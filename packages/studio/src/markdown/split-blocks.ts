import type { Links } from "marked";
import { tokenizeBlocks } from "./bounded-lexer.ts";

export type SplitText = {
  /** Source of each block. Joined, they are the part of the text that is rendered as Markdown. */
  readonly blocks: readonly string[];
  readonly links: Links;
  /** Text beyond the length limit, shown as plain text. */
  readonly rest: string;
};

const maxRichLength = 100_000;

/**
 * Splits a growing text into blocks. Only the last two blocks are parsed again, because a block can change until the next
 * one has started. The cost of a delta is therefore independent of the text before it.
 */
export function createBlockSplitter(): (text: string) => SplitText {
  let previousText = "";
  let settled = "";
  let last: SplitText = { blocks: [], links: {}, rest: "" };

  return (source) => {
    if (source === previousText) return last;
    const isAppended = previousText !== "" && source.startsWith(previousText);
    const text = source.replace(/\r\n?/g, "\n");
    const end = findRichEnd(text);
    const canReuse = isAppended && settled !== "" && text.startsWith(settled) && settled.length <= end;
    const reusedBlocks = canReuse ? getSettledBlocks(last.blocks) : [];
    const start = canReuse ? settled.length : 0;
    const { tokens, links } = tokenizeBlocks(text.slice(start, end));
    const blocks = [...reusedBlocks, ...joinSpaces(tokens.map(({ raw }) => raw))];
    const known = canReuse ? mergeLinks(last.links, links) : links;
    previousText = source;
    last = { blocks, links: known, rest: text.slice(end) };
    settled = getSettledBlocks(blocks).join("");
    return last;
  };
}

const getSettledBlocks = (blocks: readonly string[]): readonly string[] => blocks.slice(0, -2);

/** Attaches blank lines to the block before them, so that every block is visible. */
function joinSpaces(sources: readonly string[]): string[] {
  const blocks: string[] = [];
  for (const source of sources) {
    if (source.trim() === "" && blocks.length > 0) blocks.push(`${blocks.pop()}${source}`);
    else blocks.push(source);
  }
  return blocks;
}

/** Returns the same object if nothing is new, so that no block re-renders. */
function mergeLinks(known: Links, more: Links): Links {
  return Object.keys(more).every((name) => Object.hasOwn(known, name)) ? known : { ...more, ...known };
}

function findRichEnd(text: string): number {
  if (text.length <= maxRichLength) return text.length;
  const line = text.lastIndexOf("\n", maxRichLength);
  return line > maxRichLength / 2 ? line + 1 : maxRichLength;
}
