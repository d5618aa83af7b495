import type { ReactNode } from "react";
import type { FactIndex } from "../data/fact-index.ts";
import { passageText } from "../markdown/passage-text.ts";
import { safeLink } from "../markdown/safe-link.ts";
import { steadyText, visibleText } from "../markdown/visible-text.ts";
import { Dialog } from "../ui/dialog.tsx";
import { OutsideLink } from "../ui/outside-link.tsx";

/** A source that was asked for. */
export type OpenedSource = { readonly n: number; readonly id: string; readonly title: string };

type SourcePanelProps = {
  readonly source: OpenedSource | undefined;
  readonly index: FactIndex;
  readonly onClose: () => void;
};

/** The passage behind a number. */
export function SourcePanel({ source, index, onClose }: SourcePanelProps): ReactNode {
  const fragment = source && index.fragments.get(source.id);
  const url = fragment?.source.url;
  const link = url === undefined ? undefined : safeLink(url, url);
  return (
    <Dialog
      place="side"
      title={source ? `${source.n}. ${steadyText(source.title)}` : "Source"}
      isOpen={source !== undefined}
      onClose={onClose}
    >
      {url !== undefined && (
        <p className="mb-3 text-sm">
          {link ? (
            <OutsideLink {...link} className="text-accent underline [overflow-wrap:anywhere]">
              {link.address}
            </OutsideLink>
          ) : (
            <span className="font-mono text-xs text-quiet">{visibleText(url)}</span>
          )}
        </p>
      )}
      <blockquote className="whitespace-pre-wrap border-l-2 border-accent bg-accent-soft px-4 py-3 text-sm [overflow-wrap:anywhere]">
        {fragment ? steadyText(passageText(fragment.content)) : "The passage is not in this session."}
      </blockquote>
    </Dialog>
  );
}
