import type { ReactNode } from "react";
import { CopyButton } from "../markdown/copy-button.tsx";
import { ScrollRegion } from "../markdown/scroll-region.tsx";
import { visibleText } from "../markdown/visible-text.ts";
import { WidgetFrame } from "./widget-frame.tsx";

type JsonViewProps = {
  readonly value: unknown;
  readonly label: string;
  /** Why it is shown like this. */
  readonly reason?: string;
};

const longest = 20_000;

/** Any value as it is, with nothing hidden in it. */
export function JsonView({ value, label, reason }: JsonViewProps): ReactNode {
  const written = JSON.stringify(value, undefined, 2) ?? "";
  const more = written.length - longest;
  return (
    <WidgetFrame label={visibleText(label)} tools={<CopyButton label="Copy JSON" text={() => written} />}>
      {reason !== undefined && <p className="border-b px-3 py-2 text-quiet text-sm">{visibleText(reason)}</p>}
      <ScrollRegion label="JSON" className="max-h-80 overflow-auto">
        <pre className="w-max min-w-full px-3 py-2.5 font-mono text-[0.8125rem] leading-normal">
          {visibleText(written.slice(0, longest))}
          {more > 0 && `\n… and ${more} characters more`}
        </pre>
      </ScrollRegion>
    </WidgetFrame>
  );
}
