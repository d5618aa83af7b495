import { formatCount } from "capstan/sessions";
import type { ReactNode } from "react";
import { Passage } from "../markdown/passage.tsx";
import { parseSafeLink } from "../markdown/safe-link.ts";
import { FileLink, parseFileAddress } from "../own-data/file-link.tsx";
import { escapeBidi, escapeInvisible } from "../ui/escape-text.ts";
import { ExternalLink } from "../ui/external-link.tsx";
import { ScrollRegion } from "../ui/scroll-region.tsx";
import { WidgetFrame } from "./widget-frame.tsx";
import type { SourcePassage, SourcesProps } from "./widget-props.ts";

/** Passages with their sources. Cited text is highlighted. */
export function SourcesWidget({ title, sources }: SourcesProps): ReactNode {
  const count = formatCount(sources.length, "source");
  return (
    <WidgetFrame label="Sources" title={title} note={count}>
      {sources.length === 0 && <p className="px-3 py-4 text-quiet text-sm">No sources found.</p>}
      <ol className="divide-y">
        {sources.map((source, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: passages are not unique, and the list does not change
          <SourceItem key={index} source={source} />
        ))}
      </ol>
    </WidgetFrame>
  );
}

const linkStyle =
  "font-medium text-accent text-sm underline decoration-accent/40 underline-offset-2 [overflow-wrap:anywhere]";

function SourceItem({ source }: { readonly source: SourcePassage }): ReactNode {
  const { n, title, place, url, file, text, cited } = source;
  const link = url === undefined ? undefined : parseSafeLink(url, title);
  return (
    <li className="px-3 py-3">
      <div className="flex items-baseline gap-2">
        {n !== undefined && (
          <span className="inline-flex min-w-5 shrink-0 justify-center rounded bg-accent-soft px-1 font-medium text-accent text-xs tabular-nums">
            {n}
          </span>
        )}
        <div className="min-w-0">
          {link ? (
            <ExternalLink href={link.href} address={link.address} className={linkStyle}>
              {escapeBidi(title)}
            </ExternalLink>
          ) : parseFileAddress(file) !== undefined ? (
            <FileLink address={file} className={linkStyle}>
              {escapeBidi(title)}
            </FileLink>
          ) : (
            <span className="font-medium text-sm [overflow-wrap:anywhere]">{escapeBidi(title)}</span>
          )}
          <p className="text-faint text-xs [overflow-wrap:anywhere]">
            {[place, link?.address ?? url]
              .filter((part) => part !== undefined)
              .map(escapeInvisible)
              .join(" · ")}
          </p>
        </div>
      </div>
      <ScrollRegion
        role="group"
        label={`Passage from ${escapeBidi(title)}`}
        className="mt-1.5 max-h-60 overflow-y-auto text-sm"
      >
        <Passage text={text} name={file ?? url ?? title} {...(cited && { cited })} />
      </ScrollRegion>
    </li>
  );
}
