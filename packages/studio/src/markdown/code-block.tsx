import type { ReactNode } from "react";
import { CopyButton } from "./copy-button.tsx";
import { type CodePiece, useHighlighted } from "./highlighter.ts";
import { ScrollRegion } from "./scroll-region.tsx";
import { visibleText } from "./visible-text.ts";

type CodeBlockProps = {
  readonly code: string;
  /** What stands after the fence. */
  readonly language?: string;
  /** More of it is still to come. */
  readonly isOpen?: boolean;
};

const longestWhileOpen = 4000;

/** Code with its language, to be copied as it was written and shown with nothing hidden in it. */
export function CodeBlock({ code, language = "", isOpen = false }: CodeBlockProps): ReactNode {
  const name = /^[\w+#.-]{1,30}/.exec(language)?.[0] ?? "";
  const shown = visibleText(code);
  // Colours are found anew for each piece of text: while a long block grows they wait.
  const pieces = useHighlighted(shown, name.toLowerCase(), !isOpen || code.length < longestWhileOpen);
  return (
    <div className="my-4 overflow-hidden rounded-lg border bg-sunken">
      <div className="flex h-9 items-center justify-between border-b pr-1 pl-3 text-quiet text-xs">
        <span>{name || "text"}</span>
        <CopyButton label="Copy code" text={() => code} />
      </div>
      <ScrollRegion label={`Code${name && `, ${name}`}`} className="overflow-x-auto">
        <pre className="w-max min-w-full px-3.5 py-3 font-mono text-[0.8125rem] leading-[1.55]">
          <code>{pieces ? pieces.map(coloured) : shown}</code>
        </pre>
      </ScrollRegion>
    </div>
  );
}

const colours: { readonly [scope: string]: string } = {
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

function coloured({ scope, text }: CodePiece, index: number): ReactNode {
  const colour =
    scope === undefined
      ? undefined
      : colours[/^[a-z_]+/.exec(scope.replace(/^selector-.*/, "selector"))?.[0] ?? ""];
  if (colour === undefined) return text;
  return (
    <span key={index} className={colour}>
      {text}
    </span>
  );
}
