import type { ReactNode } from "react";
import { CopyButton } from "../ui/copy-button.tsx";
import { escapeInvisible } from "../ui/escape-text.ts";
import { ScrollRegion } from "../ui/scroll-region.tsx";
import { type CodePiece, useHighlightedCode } from "./highlighter.ts";

type CodeBlockProps = {
  readonly code: string;
  /** Info string of the fence. */
  readonly language?: string;
  /** The code is still streaming. */
  readonly isOpen?: boolean;
};

const maxStreamingLength = 4000;

/** Code with its language. Copies the original text; shows invisible characters escaped. */
export function CodeBlock({ code, language = "", isOpen = false }: CodeBlockProps): ReactNode {
  const name = /^[\w+#.-]{1,30}/.exec(language)?.[0] ?? "";
  const escaped = escapeInvisible(code);
  // Highlighting restarts with each delta, so long blocks wait until they are complete.
  const pieces = useHighlightedCode(escaped, name.toLowerCase(), !isOpen || code.length < maxStreamingLength);
  return (
    <div className="my-4 overflow-hidden rounded-lg border bg-sunken">
      <div className="flex h-9 items-center justify-between border-b pr-1 pl-3 text-quiet text-xs">
        <span>{name || "text"}</span>
        <CopyButton label="Copy code" text={() => code} />
      </div>
      <ScrollRegion label={`Code${name && `, ${name}`}`} className="overflow-x-auto">
        <pre className="w-max min-w-full px-3.5 py-3 font-mono text-small leading-[1.55]">
          <code>{pieces ? pieces.map(renderPiece) : escaped}</code>
        </pre>
      </ScrollRegion>
    </div>
  );
}

const scopeStyles: { readonly [scope: string]: string } = {
  comment: "text-quiet italic",
  quote: "text-quiet italic",
  keyword: "text-accent",
  built_in: "text-accent",
  type: "text-accent",
  literal: "text-warn",
  number: "text-warn",
  symbol: "text-warn",
  string: "text-good",
  regexp: "text-good",
  addition: "text-good",
  deletion: "text-bad",
  attr: "text-quiet",
  attribute: "text-quiet",
  meta: "text-quiet",
  tag: "text-quiet",
  name: "text-accent",
  selector: "text-accent",
  title: "font-medium",
  section: "font-medium",
};

function renderPiece({ scope, text }: CodePiece, index: number): ReactNode {
  const style =
    scope === undefined
      ? undefined
      : scopeStyles[/^[a-z_]+/.exec(scope.replace(/^selector-.*/, "selector"))?.[0] ?? ""];
  if (style === undefined) return text;
  return (
    <span key={index} className={style}>
      {text}
    </span>
  );
}
