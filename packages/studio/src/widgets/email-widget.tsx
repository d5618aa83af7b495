import type { ReactNode } from "react";
import { escapeBidi, escapeInvisible } from "../ui/escape-text.ts";
import { ScrollRegion } from "../ui/scroll-region.tsx";
import { WidgetFrame } from "./widget-frame.tsx";
import type { EmailProps } from "./widget-props.ts";

/** An email as its recipients will see it. Addresses are complete, and nothing in the text is active. */
export function EmailWidget({ from, to, cc, bcc, subject, body, attachments = [] }: EmailProps): ReactNode {
  const lines = [
    { name: "From", addresses: from === undefined ? [] : [from] },
    { name: "To", addresses: to },
    { name: "Cc", addresses: cc ?? [] },
    { name: "Bcc", addresses: bcc ?? [] },
  ].filter(({ addresses }) => addresses.length > 0);
  return (
    <WidgetFrame label="Email" title={subject === undefined || subject === "" ? "No subject" : subject}>
      <dl className="grid grid-cols-[auto_1fr] gap-x-3 gap-y-0.5 border-b px-3 py-2 text-sm">
        {lines.map(({ name, addresses }) => (
          <Addresses key={name} name={name} addresses={addresses} />
        ))}
      </dl>
      <ScrollRegion label="Text of the email" className="max-h-96 overflow-auto px-3 py-3">
        <p dir="auto" className="whitespace-pre-wrap text-sm leading-relaxed [overflow-wrap:anywhere]">
          {escapeBidi(body)}
        </p>
      </ScrollRegion>
      {attachments.length > 0 && (
        <p className="border-t px-3 py-2 text-quiet text-sm [overflow-wrap:anywhere]">
          Attached: {attachments.map(escapeInvisible).join(", ")}
        </p>
      )}
    </WidgetFrame>
  );
}

type AddressesProps = { readonly name: string; readonly addresses: readonly string[] };

function Addresses({ name, addresses }: AddressesProps): ReactNode {
  return (
    <>
      <dt className="text-quiet">{name}</dt>
      <dd className="[overflow-wrap:anywhere]">{addresses.map(escapeInvisible).join(", ")}</dd>
    </>
  );
}
