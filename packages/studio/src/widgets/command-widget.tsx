import type { ReactNode } from "react";
import { CopyButton } from "../ui/copy-button.tsx";
import { escapeBidi, escapeInvisible } from "../ui/escape-text.ts";
import { ScrollRegion } from "../ui/scroll-region.tsx";
import { WidgetFrame } from "./widget-frame.tsx";
import type { CommandProps } from "./widget-props.ts";

/** A command exactly as it will run, with its folder and what confines it. */
export function CommandWidget({ command, folder, allows = [] }: CommandProps): ReactNode {
  return (
    <WidgetFrame
      label="Command"
      title="Command"
      tools={<CopyButton label="Copy command" text={() => command} />}
    >
      <ScrollRegion
        label="Command"
        className="max-h-72 overflow-auto px-3 py-2 font-mono text-small leading-normal"
      >
        <pre className="whitespace-pre-wrap [overflow-wrap:anywhere]">
          <span aria-hidden="true" className="select-none text-faint">
            ${" "}
          </span>
          {escapeInvisible(command)}
        </pre>
      </ScrollRegion>
      <dl className="grid gap-x-3 gap-y-0.5 border-t px-3 py-2 text-sm grid-cols-[auto_1fr]">
        {folder !== undefined && (
          <>
            <dt className="text-quiet">Folder</dt>
            <dd className="font-mono text-small [overflow-wrap:anywhere]">{escapeInvisible(folder)}</dd>
          </>
        )}
        {allows.map(({ what, answer }) => (
          <Row key={what} what={what} answer={answer} />
        ))}
      </dl>
    </WidgetFrame>
  );
}

function Row({ what, answer }: { readonly what: string; readonly answer: string }): ReactNode {
  return (
    <>
      <dt className="text-quiet">{escapeBidi(what)}</dt>
      <dd className="[overflow-wrap:anywhere]">{escapeBidi(answer)}</dd>
    </>
  );
}
