import type { SessionView } from "capstan/client";
import type { ReactNode } from "react";
import { Passage } from "../markdown/passage.tsx";
import { parseSafeLink } from "../markdown/safe-link.ts";
import { FileLink } from "../own-data/file-link.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { escapeBidi, escapeInvisible } from "../ui/escape-text.ts";
import { ExternalLink } from "../ui/external-link.tsx";

/** A source to show. */
export type OpenedSource = { readonly n: number; readonly id: string; readonly title: string };

type SourcePanelProps = {
  readonly source: OpenedSource | undefined;
  readonly fragments: SessionView["fragments"];
  readonly onClose: () => void;
};

/** Shows the cited passage. */
export function SourcePanel({ source, fragments, onClose }: SourcePanelProps): ReactNode {
  const fragment = source && fragments.get(source.id);
  const url = fragment?.source.url;
  const link = url === undefined ? undefined : parseSafeLink(url, url);
  return (
    <Dialog
      placement="side"
      title={source ? `${source.n}. ${escapeBidi(source.title)}` : "Source"}
      isOpen={source !== undefined}
      onClose={onClose}
    >
      {url !== undefined && (
        <p className="mb-3 text-sm">
          {link ? (
            <ExternalLink {...link} className="text-accent underline [overflow-wrap:anywhere]">
              {link.address}
            </ExternalLink>
          ) : (
            <span className="font-mono text-xs text-quiet">{escapeInvisible(url)}</span>
          )}
        </p>
      )}
      <FileLink
        address={fragment?.source.file}
        className="mb-3 inline-flex min-h-11 items-center gap-1.5 text-accent text-sm underline underline-offset-2 sm:min-h-8"
      />
      <blockquote className="border-accent border-l-2 bg-accent-soft/50 px-4 py-3 text-sm">
        {fragment ? (
          <Passage text={fragment.content} name={String(fragment.source.file ?? url ?? source?.title)} />
        ) : (
          "This passage is not available in this session."
        )}
      </blockquote>
    </Dialog>
  );
}
