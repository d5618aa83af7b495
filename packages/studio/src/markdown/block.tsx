import type { Links, MarkedToken, Token, Tokens } from "marked";
import { memo, type ReactNode } from "react";
import remend from "remend";
import { lexBlock } from "./bounded-lexer.ts";
import { CodeBlock } from "./code-block.tsx";
import { Inline } from "./inline.tsx";
import { ScrollRegion } from "./scroll-region.tsx";
import { steadyText } from "./visible-text.ts";

type BlockProps = {
  readonly source: string;
  readonly links: Links;
  /** The text still grows here. */
  readonly isOpen: boolean;
};

const longestHealed = 20_000;

/** One block of a text. Drawn again only when its own source has changed. */
export const Block: React.NamedExoticComponent<BlockProps> = memo(function Block({
  source,
  links,
  isOpen,
}: BlockProps): ReactNode {
  const healed =
    isOpen && source.length <= longestHealed
      ? remend(source, { linkMode: "text-only", katex: false })
      : source;
  return <Blocks tokens={lexBlock(healed, links)} isOpen={isOpen} />;
});

type BlocksProps = { readonly tokens: readonly Token[]; readonly isOpen: boolean };

function Blocks({ tokens, isOpen }: BlocksProps): ReactNode {
  return tokens.map((token, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: blocks have no other name than their place
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
      return <CodeBlock code={token.text} language={token.lang ?? ""} isOpen={isOpen} />;
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
          {steadyText(token.raw.trimEnd())}
        </p>
      );
    default:
      return <Inline tokens={[token]} />;
  }
}

const sizes = ["text-xl", "text-lg", "text-base", "text-base", "text-sm", "text-sm"] as const;
const levels = ["h2", "h3", "h4", "h5", "h6", "h6"] as const;

/** The first level is that of the page itself. */
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
      // biome-ignore lint/suspicious/noArrayIndexKey: items have no other name than their place
      key={index}
      className={item.task ? "-ml-5 my-1 list-none [&>p]:my-1" : "my-1 pl-0.5 marker:text-faint [&>p]:my-1"}
    >
      <Blocks tokens={item.tokens} isOpen={isOpen && index === list.items.length - 1} />
    </li>
  ));
  const look = "my-3 pl-6 [overflow-wrap:anywhere] [&_ol]:my-1 [&_ul]:my-1";
  if (!list.ordered) return <ul className={`${look} list-disc`}>{items}</ul>;
  return (
    <ol start={typeof list.start === "number" ? list.start : 1} className={`${look} list-decimal`}>
      {items}
    </ol>
  );
}

const sides = { left: "text-left", center: "text-center", right: "text-right" } as const;

function MarkdownTable({ table }: { readonly table: Tokens.Table }): ReactNode {
  const side = (cell: Tokens.TableCell): string => sides[cell.align ?? "left"];
  return (
    <ScrollRegion label="Table" className="my-4 overflow-x-auto rounded-lg border">
      <table className="w-full border-collapse text-sm">
        <thead className="bg-sunken text-quiet">
          <tr>
            {table.header.map((cell, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: a column has no other name than its place
              <th key={index} scope="col" className={`px-3 py-2 font-medium ${side(cell)}`}>
                <Inline tokens={cell.tokens} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {table.rows.map((row, place) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a row has no other name than its place
            <tr key={place} className="border-t">
              {row.map((cell, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: a cell has no other name than its place
                <td key={index} className={`px-3 py-2 align-top ${side(cell)}`}>
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
