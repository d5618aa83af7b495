import type { Links, MarkedToken, Token, Tokens } from "marked";
import { memo, type ReactNode } from "react";
import remend from "remend";
import { escapeBidi } from "../ui/escape-text.ts";
import { ScrollRegion } from "../ui/scroll-region.tsx";
import { tokenizeBlock } from "./bounded-lexer.ts";
import { CodeBlock } from "./code-block.tsx";
import { Diagram, maxDiagramLength } from "./diagram.tsx";
import { Inline } from "./inline.tsx";

type BlockProps = {
  readonly source: string;
  readonly links: Links;
  /** The text is still streaming. */
  readonly isOpen: boolean;
};

const maxHealedLength = 20_000;

/** One Markdown block. Re-renders only when its source changes. */
export const Block: React.NamedExoticComponent<BlockProps> = memo(function Block({
  source,
  links,
  isOpen,
}: BlockProps): ReactNode {
  const healed =
    isOpen && source.length <= maxHealedLength
      ? remend(source, { linkMode: "text-only", katex: false })
      : source;
  return <Blocks tokens={tokenizeBlock(healed, links)} isOpen={isOpen} />;
});

type BlocksProps = { readonly tokens: readonly Token[]; readonly isOpen: boolean };

function Blocks({ tokens, isOpen }: BlocksProps): ReactNode {
  return tokens.map((token, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: blocks are identified by position
    <BlockToken key={index} token={token as MarkedToken} isOpen={isOpen && index === tokens.length - 1} />
  ));
}

type BlockTokenProps = { readonly token: MarkedToken; readonly isOpen: boolean };

function BlockToken({ token, isOpen }: BlockTokenProps): ReactNode {
  switch (token.type) {
    case "space":
    case "def":
      return null;
    case "heading":
      return <Heading depth={token.depth} tokens={token.tokens} />;
    case "paragraph":
      return (
        <p className="my-3 [overflow-wrap:anywhere]">
          <Inline tokens={token.tokens} />
        </p>
      );
    case "code":
      return isDiagram(token, isOpen) ? (
        <Diagram code={token.text} />
      ) : (
        <CodeBlock code={token.text} language={token.lang ?? ""} isOpen={isOpen} />
      );
    case "blockquote":
      return (
        <blockquote className="my-3 border-l-2 pl-4 text-quiet">
          <Blocks tokens={token.tokens} isOpen={isOpen} />
        </blockquote>
      );
    case "list":
      return <List list={token} isOpen={isOpen} />;
    case "table":
      return <MarkdownTable table={token} />;
    case "hr":
      return <hr className="my-6" />;
    case "html":
      return (
        <p className="my-3 whitespace-pre-wrap text-quiet [overflow-wrap:anywhere]">
          {escapeBidi(token.raw.trimEnd())}
        </p>
      );
    default:
      return <Inline tokens={[token]} />;
  }
}

function isDiagram({ lang, text }: Tokens.Code, isOpen: boolean): boolean {
  return !isOpen && /^mermaid\b/i.test(lang ?? "") && text.length <= maxDiagramLength;
}

const sizes = ["text-xl", "text-lg", "text-base", "text-base", "text-sm", "text-sm"] as const;
const levels = ["h2", "h3", "h4", "h5", "h6", "h6"] as const;

/** h1 is reserved for the page. */
function Heading({
  depth,
  tokens,
}: {
  readonly depth: number;
  readonly tokens: readonly Token[];
}): ReactNode {
  const Level = levels[depth - 1] ?? "h6";
  return (
    <Level
      className={`mt-6 mb-2 font-semibold leading-snug ${sizes[depth - 1] ?? ""} [overflow-wrap:anywhere]`}
    >
      <Inline tokens={tokens} />
    </Level>
  );
}

function List({ list, isOpen }: { readonly list: Tokens.List; readonly isOpen: boolean }): ReactNode {
  const items = list.items.map((item, index) => (
    <li
      // biome-ignore lint/suspicious/noArrayIndexKey: items are identified by position
      key={index}
      className={item.task ? "-ml-5 my-1 list-none [&>p]:my-1" : "my-1 pl-0.5 marker:text-faint [&>p]:my-1"}
    >
      <Blocks tokens={item.tokens} isOpen={isOpen && index === list.items.length - 1} />
    </li>
  ));
  const listStyle = "my-3 pl-6 [overflow-wrap:anywhere] [&_ol]:my-1 [&_ul]:my-1";
  if (!list.ordered) return <ul className={`${listStyle} list-disc`}>{items}</ul>;
  return (
    <ol start={typeof list.start === "number" ? list.start : 1} className={`${listStyle} list-decimal`}>
      {items}
    </ol>
  );
}

const alignments = { left: "text-left", center: "text-center", right: "text-right" } as const;

function MarkdownTable({ table }: { readonly table: Tokens.Table }): ReactNode {
  const getAlignment = (cell: Tokens.TableCell): string => alignments[cell.align ?? "left"];
  return (
    <ScrollRegion label="Table" className="my-4 max-h-[32rem] overflow-auto rounded-lg border">
      <table className="w-full border-separate border-spacing-0 text-sm">
        <thead className="sticky top-0 bg-sunken text-quiet">
          <tr>
            {table.header.map((cell, index) => {
              // The corner above the names of rows is often empty, and then names nothing.
              const Cell = cell.text === "" ? "td" : "th";
              return (
                <Cell
                  // biome-ignore lint/suspicious/noArrayIndexKey: columns are identified by position
                  key={index}
                  {...(cell.text !== "" && { scope: "col" })}
                  className={`min-w-20 px-3 py-2 font-medium ${getAlignment(cell)}`}
                >
                  <Inline tokens={cell.tokens} />
                </Cell>
              );
            })}
          </tr>
        </thead>
        <tbody>
          {table.rows.map((row, rowIndex) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: rows are identified by position
            <tr key={rowIndex}>
              {row.map((cell, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: cells are identified by position
                <td key={index} className={`border-t px-3 py-2 align-top ${getAlignment(cell)}`}>
                  <Inline tokens={cell.tokens} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollRegion>
  );
}
