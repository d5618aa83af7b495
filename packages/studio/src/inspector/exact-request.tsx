import type { ExactRequest } from "capstan/client";
import { formatCount } from "capstan/sessions";
import { Terminal } from "lucide-react";
import { type ReactNode, useMemo, useState } from "react";
import { CopyButton } from "../ui/copy-button.tsx";
import { escapeBidi, escapeInvisible } from "../ui/escape-text.ts";
import { SelectField } from "../ui/select-field.tsx";
import { formatFullNumber } from "./format-facts.ts";
import { countUtf8Bytes, formatBody, formatCurl, splitAdded } from "./request-text.ts";

type ExactRequestViewProps = {
  readonly requests: readonly ExactRequest[];
  /** The last request of the previous turn. */
  readonly previous: ExactRequest | undefined;
  readonly isRaw: boolean;
};

const purposes = { answer: "answer", summary: "summary of the history", turn_summary: "summary of the turn" };

/** The requests of a turn as they were sent. */
export function ExactRequestView({ requests, previous, isRaw }: ExactRequestViewProps): ReactNode {
  const [chosen, setChosen] = useState<number>();
  const index = Math.min(chosen ?? requests.length - 1, requests.length - 1);
  const shown = requests[index];
  const before = index > 0 ? requests[index - 1] : previous;
  const base = before?.url === shown?.url ? before?.body : undefined;
  const difference = useMemo(() => splitAdded(base, shown?.body ?? ""), [base, shown?.body]);
  if (!shown) return null;
  const added =
    base === undefined
      ? ""
      : `, ${formatFullNumber(countUtf8Bytes(difference.added))} added since the request before`;
  return (
    <div className="grid gap-2">
      <div className="flex flex-wrap items-center gap-x-2 gap-y-1">
        {requests.length > 1 && (
          <SelectField
            label="Request"
            value={String(index)}
            choices={requests.map(({ purpose }, at) => ({
              value: String(at),
              label: `Request ${at + 1} of ${requests.length}, ${purposes[purpose]}`,
            }))}
            onChange={(value) => setChosen(Number(value))}
          />
        )}
        <p className="min-w-0 flex-1 text-xs text-quiet [overflow-wrap:anywhere]">
          {formatCount(countUtf8Bytes(shown.body), "byte")}
          {added}
        </p>
        <CopyButton label="Copy the request" text={() => shown.body} />
        {shown.url !== "" && (
          <CopyButton label="Copy as curl" icon={<Terminal size={14} />} text={() => formatCurl(shown)} />
        )}
      </div>
      {shown.url !== "" && (
        <p className="font-mono text-xs text-quiet [overflow-wrap:anywhere]">
          {shown.method} {escapeBidi(shown.url)}
        </p>
      )}
      {isRaw ? <RawBody {...difference} hasBase={base !== undefined} /> : <PrettyBody body={shown.body} />}
    </div>
  );
}

const boxStyle =
  "whitespace-pre-wrap rounded-md bg-sunken px-3 py-2 font-mono text-xs leading-relaxed [overflow-wrap:anywhere]";
const maxLength = 200_000;

function PrettyBody({ body }: { readonly body: string }): ReactNode {
  const text = useMemo(() => formatBody(body), [body]);
  return <BodyText text={text} />;
}

function BodyText({ text }: { readonly text: string }): ReactNode {
  return (
    <>
      <pre className={boxStyle}>{escapeInvisible(text.slice(0, maxLength))}</pre>
      {text.length > maxLength && (
        <p className="text-xs text-faint">Truncated. Copy the request to get the full text.</p>
      )}
    </>
  );
}

type RawBodyProps = ReturnType<typeof splitAdded> & { readonly hasBase: boolean };

function RawBody({ head, added, tail, hasBase }: RawBodyProps): ReactNode {
  if (!hasBase) return <BodyText text={added} />;
  return (
    <div className="grid gap-2">
      <Unchanged text={head} place="before" />
      <pre data-added className={`${boxStyle} border-l-2 border-accent`}>
        {escapeInvisible(added.slice(0, maxLength)) || "(nothing)"}
      </pre>
      <Unchanged text={tail} place="after" />
    </div>
  );
}

function Unchanged({ text, place }: { readonly text: string; readonly place: string }): ReactNode {
  if (text === "") return null;
  return (
    <details>
      <summary className="cursor-pointer text-xs text-quiet">
        {formatCount(text.length, "unchanged character")} {place}
      </summary>
      <BodyText text={text} />
    </details>
  );
}
