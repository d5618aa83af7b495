import type { Part } from "capstan";
import type { McpAnswer } from "capstan/client";
import { type ReactNode, useEffect, useRef } from "react";
import { rasterTypes } from "../chat/composer/attachments.ts";
import { escapeBidi } from "../ui/escape-text.ts";
import { formatDuration } from "../ui/format-duration.ts";
import { formatJsonText, JsonText } from "../ui/json-text.tsx";

/** What a tool answered, as data: text is never markup, and only images without active content are shown. */
export function CallResult({ answer }: { readonly answer: McpAnswer }): ReactNode {
  const { content, data, error, declined, ms } = answer;
  const parts: readonly Part[] =
    typeof content === "string" ? [{ type: "text", text: content }] : (content ?? []);
  const section = useRef<HTMLElement>(null);
  useEffect(() => {
    section.current?.scrollIntoView({ block: "nearest" });
  }, []);
  return (
    <section ref={section} aria-label="Result" className="grid gap-2">
      <p role="status" className="flex gap-2 text-sm">
        <span className={error ? "text-bad" : "text-good"}>{error ? "Failed" : "Done"}</span>
        <span className="text-quiet">{formatDuration(ms)}</span>
      </p>
      {error && (
        <p className="rounded-md bg-bad-soft px-3 py-2 text-sm text-bad [overflow-wrap:anywhere]">
          {escapeBidi(error.message)}
        </p>
      )}
      {declined.map((question) => (
        <p key={question} className="text-sm text-warn [overflow-wrap:anywhere]">
          Declined: {escapeBidi(question)}
        </p>
      ))}
      {parts.map((part, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a result does not change
        <ResultPart key={index} part={part} />
      ))}
      {data !== undefined && <JsonText label="Data" text={formatJsonText(data)} />}
    </section>
  );
}

function ResultPart({ part }: { readonly part: Part }): ReactNode {
  if (part.type === "text")
    return part.text === "" ? null : <JsonText label="Text" text={formatJsonText(part.text)} />;
  const { type, mediaType, data } = part;
  if (data !== undefined && rasterTypes.includes(mediaType) && /^[\w+/]+={0,2}$/.test(data))
    return (
      <img
        src={`data:${mediaType};base64,${data}`}
        alt={`Result, ${mediaType}`}
        className="max-h-80 max-w-full rounded-md border"
      />
    );
  return (
    <p className="text-sm text-quiet">
      {type}: {escapeBidi(mediaType)}, not shown
    </p>
  );
}
