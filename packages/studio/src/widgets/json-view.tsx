import { formatCount } from "capstan/sessions";
import type { ReactNode } from "react";
import { CopyButton } from "../ui/copy-button.tsx";
import { escapeInvisible } from "../ui/escape-text.ts";
import { ScrollRegion } from "../ui/scroll-region.tsx";
import { WidgetFrame } from "./widget-frame.tsx";

type JsonViewProps = {
  readonly value: unknown;
  readonly label: string;
  /** Why the value is shown as JSON. */
  readonly reason?: string;
};

const maxLength = 20_000;

/** A value as JSON with invisible characters escaped. */
export function JsonView({ value, label, reason }: JsonViewProps): ReactNode {
  const json = JSON.stringify(value, undefined, 2) ?? "";
  const more = json.length - maxLength;
  return (
    <WidgetFrame label={escapeInvisible(label)} tools={<CopyButton label="Copy JSON" text={() => json} />}>
      {reason !== undefined && (
        <p className="border-b px-3 py-2 text-quiet text-sm">{escapeInvisible(reason)}</p>
      )}
      <ScrollRegion label="JSON" className="max-h-80 overflow-auto">
        <pre className="w-max min-w-full px-3 py-2.5 font-mono text-small leading-normal">
          {escapeInvisible(json.slice(0, maxLength))}
          {more > 0 && `\n… and ${formatCount(more, "more character")}`}
        </pre>
      </ScrollRegion>
    </WidgetFrame>
  );
}
