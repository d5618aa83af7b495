import type { MarkedToken, Token } from "marked";
import type { ReactNode } from "react";
import { OutsideLink } from "../ui/outside-link.tsx";
import { CitedText, mayCite } from "./citation-chip.tsx";
import { decodeEntities } from "./decode-entities.ts";
import { safeLink } from "./safe-link.ts";
import { steadyText, visibleText } from "./visible-text.ts";

/** The words of a block: emphasis, code, links, citations. What it does not know is shown as it was typed. */
export function Inline({ tokens }: { readonly tokens: readonly Token[] | undefined }): ReactNode {
  return tokens?.map((token, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: words have no other name than their place
    <InlineToken key={index} token={token as MarkedToken} />
  ));
}

function InlineToken({ token }: { readonly token: MarkedToken }): ReactNode {
  switch (token.type) {
    case "strong":
      return (
        <strong className="font-semibold">
          <Inline tokens={token.tokens} />
        </strong>
      );
    case "em":
      return (
        <em>
          <Inline tokens={token.tokens} />
        </em>
      );
    case "del":
      return (
        <del className="text-quiet">
          <Inline tokens={token.tokens} />
        </del>
      );
    case "codespan":
      return (
        <code className="rounded bg-sunken px-1 py-px font-mono text-[0.875em] [overflow-wrap:anywhere]">
          {visibleText(token.text)}
        </code>
      );
    case "br":
      return <br />;
    case "checkbox":
      return <Checkbox isChecked={token.checked} />;
    case "link":
      return (
        <MarkdownLink
          written={token.autolink ? token.href : decodeEntities(token.href)}
          tokens={token.tokens}
          words={token.text}
        />
      );
    case "image":
      return <ImageLink written={decodeEntities(token.href)} words={decodeEntities(token.text)} />;
    case "escape":
      return token.text;
    case "text":
      return token.tokens ? <Inline tokens={token.tokens} /> : <Words text={decodeEntities(token.text)} />;
    case "html":
      return /^<br\s*\/?>$/i.test(token.raw) ? <br /> : steadyText(token.raw);
    default:
      return steadyText(token.raw);
  }
}

function Words({ text }: { readonly text: string }): ReactNode {
  return mayCite(text) ? <CitedText text={text} /> : steadyText(text);
}

function Checkbox({ isChecked }: { readonly isChecked: boolean }): ReactNode {
  return (
    <input
      type="checkbox"
      checked={isChecked}
      readOnly
      disabled
      aria-label={isChecked ? "Done" : "Not done"}
      className="mr-1.5 align-[-0.1em] accent-accent"
    />
  );
}

type MarkdownLinkProps = {
  readonly written: string;
  readonly words: string;
  readonly tokens: readonly Token[] | undefined;
};

const linkLook =
  "text-accent underline decoration-accent/40 underline-offset-2 hover:decoration-accent [overflow-wrap:anywhere]";

function MarkdownLink({ written, words, tokens }: MarkdownLinkProps): ReactNode {
  const link = safeLink(written, words);
  if (!link) {
    // A link that may not be one: its words, and where it would have led.
    const isSame = words === written || written === `http://${words}` || written === `mailto:${words}`;
    if (isSame) return visibleText(words);
    return (
      <>
        <Inline tokens={tokens} />
        {written !== "" && (
          <span className="text-faint [overflow-wrap:anywhere]"> ({shortened(visibleText(written))})</span>
        )}
      </>
    );
  }
  return (
    <>
      <OutsideLink href={link.href} address={link.address} className={linkLook}>
        <Inline tokens={tokens} />
      </OutsideLink>
      {link.realHost !== undefined && <RealHost host={link.realHost} />}
    </>
  );
}

/** The words of a link can name one place while it leads to another: then the other is named too. */
function RealHost({ host }: { readonly host: string }): ReactNode {
  return (
    <span className="text-warn text-[0.875em] [overflow-wrap:anywhere]"> (leads to {visibleText(host)})</span>
  );
}

/** Nothing is ever loaded from elsewhere: an image is a link with its words. */
function ImageLink({ written, words }: { readonly written: string; readonly words: string }): ReactNode {
  const label = `Image: ${steadyText(words) || "without words"}`;
  const link = safeLink(written, words);
  if (!link) return <span className="text-faint">[{label}]</span>;
  return (
    <>
      <OutsideLink href={link.href} address={link.address} className={linkLook}>
        {label}
      </OutsideLink>
      {link.realHost !== undefined && <RealHost host={link.realHost} />}
    </>
  );
}

const shortened = (text: string): string => (text.length > 120 ? `${text.slice(0, 120)}…` : text);
