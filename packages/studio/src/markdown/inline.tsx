import type { MarkedToken, Token } from "marked";
import { type ReactNode, useContext, useState } from "react";
import { ConversationContext } from "../chat/conversation-context.ts";
import { escapeBidi, escapeInvisible } from "../ui/escape-text.ts";
import { ExternalLink } from "../ui/external-link.tsx";
import { CitedText, mayContainCitation } from "./citation-chip.tsx";
import { decodeEntities } from "./decode-entities.ts";
import { MathFormula } from "./math.tsx";
import type { MathToken } from "./math-syntax.ts";
import { parseSafeImage } from "./safe-image.ts";
import { parseSafeLink } from "./safe-link.ts";

/** Inline tokens: emphasis, code, links, citations. Unknown tokens are shown as typed. */
export function Inline({ tokens }: { readonly tokens: readonly Token[] | undefined }): ReactNode {
  return tokens?.map((token, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: tokens are identified by position
    <InlineToken key={index} token={token as MarkedToken} />
  ));
}

function InlineToken({ token }: { readonly token: MarkedToken | MathToken }): ReactNode {
  switch (token.type) {
    case "math":
      return <MathFormula source={token.text} isBlock={token.isBlock} />;
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
          {escapeInvisible(token.text)}
        </code>
      );
    case "br":
      return <br />;
    case "checkbox":
      return <Checkbox isChecked={token.checked} />;
    case "link":
      return (
        <MarkdownLink
          href={token.autolink ? token.href : decodeEntities(token.href)}
          tokens={token.tokens}
          label={token.text}
        />
      );
    case "image":
      return <MarkdownImage href={decodeEntities(token.href)} altText={decodeEntities(token.text)} />;
    case "escape":
      return token.text;
    case "text":
      return token.tokens ? (
        <Inline tokens={token.tokens} />
      ) : (
        <InlineText text={decodeEntities(token.text)} />
      );
    case "html":
      return /^<br\s*\/?>$/i.test(token.raw) ? <br /> : escapeBidi(token.raw);
    default:
      return escapeBidi(token.raw);
  }
}

function InlineText({ text }: { readonly text: string }): ReactNode {
  return mayContainCitation(text) ? <CitedText text={text} /> : escapeBidi(text);
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
  readonly href: string;
  readonly label: string;
  readonly tokens: readonly Token[] | undefined;
};

const linkStyle =
  "text-accent underline decoration-accent/40 underline-offset-2 hover:decoration-accent [overflow-wrap:anywhere]";

function MarkdownLink({ href, label, tokens }: MarkdownLinkProps): ReactNode {
  const link = parseSafeLink(href, label);
  if (!link) {
    // Not a safe link: show its text and target.
    const isSame = label === href || href === `http://${label}` || href === `mailto:${label}`;
    if (isSame) return escapeInvisible(label);
    return (
      <>
        <Inline tokens={tokens} />
        {href !== "" && (
          <span className="text-faint [overflow-wrap:anywhere]">
            {" "}
            ({truncateAddress(escapeInvisible(href))})
          </span>
        )}
      </>
    );
  }
  return (
    <>
      <ExternalLink href={link.href} address={link.address} className={linkStyle}>
        <Inline tokens={tokens} />
      </ExternalLink>
      {link.realHost !== undefined && <RealHost host={link.realHost} />}
    </>
  );
}

/** Names the real host when the link text suggests another one. */
function RealHost({ host }: { readonly host: string }): ReactNode {
  return (
    <span className="text-warn text-[0.875em] [overflow-wrap:anywhere]">
      {" "}
      (links to {escapeInvisible(host)})
    </span>
  );
}

/** Shows images of the text itself and of the session. */
function MarkdownImage({ href, altText }: { readonly href: string; readonly altText: string }): ReactNode {
  const sessionId = useContext(ConversationContext)?.sessionId;
  const [isBroken, setBroken] = useState(false);
  const source = parseSafeImage(href, sessionId);
  if (source === undefined || isBroken) return <ImageLink href={href} altText={altText} />;
  return (
    <img
      src={source}
      alt={escapeBidi(altText)}
      onError={() => setBroken(true)}
      className="my-2 inline-block max-h-96 max-w-full rounded-md border"
    />
  );
}

/** Other images become links, because nothing is loaded from other origins. */
function ImageLink({ href, altText }: { readonly href: string; readonly altText: string }): ReactNode {
  const label = `Image: ${escapeBidi(altText) || "no description"}`;
  const link = parseSafeLink(href, altText);
  if (!link) return <span className="text-faint">[{label}]</span>;
  return (
    <>
      <ExternalLink href={link.href} address={link.address} className={linkStyle}>
        {label}
      </ExternalLink>
      {link.realHost !== undefined && <RealHost host={link.realHost} />}
    </>
  );
}

const truncateAddress = (text: string): string => (text.length > 120 ? `${text.slice(0, 120)}…` : text);
