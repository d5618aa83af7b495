import type { Part } from "capstan";
import { FileText, ImageIcon } from "lucide-react";
import type { ReactNode } from "react";
import { steadyText } from "../../markdown/visible-text.ts";
import { attachedText, rasterTypes } from "../composer/attachments.ts";

type Content = string | readonly Part[];

/** What a person typed, without what was attached. */
export function typedText(content: Content): string {
  if (typeof content === "string") return content;
  return content
    .flatMap((part) => (part.type === "text" && !attachedText(part.text) ? [part.text] : []))
    .join("\n");
}

/** What a person attached. */
export function attachedParts(content: Content): readonly Part[] {
  if (typeof content === "string") return [];
  return content.filter((part) => part.type !== "text" || attachedText(part.text));
}

/** What a person said, as they wrote it. */
export function UserContent({ content }: { readonly content: Content }): ReactNode {
  const text = typedText(content);
  return (
    <>
      {attachedParts(content).map((part, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: what was said does not change
        <AttachedPart key={at} part={part} />
      ))}
      {text !== "" && (
        <p dir="auto" className="whitespace-pre-wrap [overflow-wrap:anywhere]">
          {steadyText(text)}
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
    const file = attachedText(part.text);
    return (
      <details className="rounded-md border bg-raised px-3 py-1.5 text-sm">
        <summary className="flex cursor-pointer items-center gap-2">
          <FileText size={14} aria-hidden="true" />
          {steadyText(file?.name ?? "File")}
        </summary>
        <pre className="mt-2 max-h-64 overflow-auto whitespace-pre-wrap font-mono text-xs">
          {steadyText(file?.content ?? "")}
        </pre>
      </details>
    );
  }
  return (
    <p className="flex items-center gap-2 rounded-md border bg-raised px-3 py-1.5 text-sm text-quiet">
      <ImageIcon size={14} aria-hidden="true" />
      {steadyText(`${part.type}: ${part.mediaType}`)}
    </p>
  );
}
