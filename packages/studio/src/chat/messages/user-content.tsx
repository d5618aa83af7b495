import type { Part } from "capstan";
import { FileText, ImageIcon } from "lucide-react";
import type { ReactNode } from "react";
import { escapeBidi } from "../../ui/escape-text.ts";
import { ScrollRegion } from "../../ui/scroll-region.tsx";
import { parseAttachedFile, rasterTypes } from "../composer/attachments.ts";

type Content = string | readonly Part[];

/** Returns the typed text without attachments. */
export function getTypedText(content: Content): string {
  if (typeof content === "string") return content;
  return content
    .flatMap((part) => (part.type === "text" && !parseAttachedFile(part.text) ? [part.text] : []))
    .join("\n");
}

/** Returns the attached parts. */
export function getAttachedParts(content: Content): readonly Part[] {
  if (typeof content === "string") return [];
  return content.filter((part) => part.type !== "text" || parseAttachedFile(part.text));
}

/** A user message as plain text with its attachments. */
export function UserContent({ content }: { readonly content: Content }): ReactNode {
  const text = getTypedText(content);
  return (
    <>
      {getAttachedParts(content).map((part, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: sent parts do not change
        <AttachedPart key={index} part={part} />
      ))}
      {text !== "" && (
        <p dir="auto" className="whitespace-pre-wrap [overflow-wrap:anywhere]">
          {escapeBidi(text)}
        </p>
      )}
    </>
  );
}

function AttachedPart({ part }: { readonly part: Part }): ReactNode {
  if (part.type === "image" && part.data !== undefined && rasterTypes.includes(part.mediaType))
    return (
      <img
        src={`data:${part.mediaType};base64,${part.data}`}
        alt="Attached"
        className="max-h-64 rounded-md border"
      />
    );
  if (part.type === "text") {
    const file = parseAttachedFile(part.text);
    return (
      <details className="rounded-md border bg-raised px-3 py-1.5 text-sm">
        <summary className="flex cursor-pointer items-center gap-2">
          <FileText size={14} aria-hidden="true" />
          {escapeBidi(file?.name ?? "File")}
        </summary>
        <ScrollRegion
          role="group"
          label={`Content of ${escapeBidi(file?.name ?? "the file")}`}
          className="mt-2 max-h-64 overflow-auto"
        >
          <pre className="whitespace-pre-wrap font-mono text-xs">{escapeBidi(file?.content ?? "")}</pre>
        </ScrollRegion>
      </details>
    );
  }
  return (
    <p className="flex items-center gap-2 rounded-md border bg-raised px-3 py-1.5 text-sm text-quiet">
      {part.type === "image" ? (
        <ImageIcon size={14} aria-hidden="true" />
      ) : (
        <FileText size={14} aria-hidden="true" />
      )}
      {escapeBidi(`${part.type}: ${part.mediaType}`)}
    </p>
  );
}
