import type { Links } from "marked";
import { lexBlocks } from "./bounded-lexer.ts";

export type Split = {
  /** The source of each block, in order; joined they are the part of the text that is shown as Markdown. */
  readonly blocks: readonly string[];
  readonly links: Links;
  /** What is too long to be looked into: shown as plain text. */
  readonly rest: string;
};

const longestRich = 100_000;

/**
 * Cuts a growing text into blocks. What is settled is not read again: only the last two blocks can still change, for a
 * block ends where the next one has begun. So the cost of a piece of text does not grow with the text before it.
 */
export function blockSplitter(): (text: string) => Split {
  let seen = "";
  let settled = "";
  let last: Split = { blocks: [], links: {}, rest: "" };

  return (written) => {
    if (written === seen) return last;
    const isMore = seen !== "" && written.startsWith(seen);
    const text = written.replace(/\r\n?/g, "\n");
    const end = richEnd(text);
    const isKept = isMore && settled !== "" && text.startsWith(settled) && settled.length <= end;
    const kept = isKept ? keptOf(last.blocks) : [];
    const start = isKept ? settled.length : 0;
    const { tokens, links } = lexBlocks(text.slice(start, end));
    const blocks = [...kept, ...joinSpaces(tokens.map(({ raw }) => raw))];
    const known = isKept ? merged(last.links, links) : links;
    seen = written;
    last = { blocks, links: known, rest: text.slice(end) };
    settled = keptOf(blocks).join("");
    return last;
  };
}

const keptOf = (blocks: readonly string[]): readonly string[] => blocks.slice(0, -2);

/** Blank lines belong to the block before them, so that each block stands for something to see. */
function joinSpaces(sources: readonly string[]): string[] {
  const blocks: string[] = [];
  for (const source of sources) {
    if (source.trim() === "" && blocks.length > 0) blocks.push(`${blocks.pop()}${source}`);
    else blocks.push(source);
  }
  return blocks;
}

/** The same object while nothing is new, so that no block is drawn again for it. */
function merged(known: Links, more: Links): Links {
  return Object.keys(more).every((name) => Object.hasOwn(known, name)) ? known : { ...more, ...known };
}

function richEnd(text: string): number {
  if (text.length <= longestRich) return text.length;
  const line = text.lastIndexOf("\n", longestRich);
  return line > longestRich / 2 ? line + 1 : longestRich;
}
