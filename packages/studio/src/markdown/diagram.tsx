import { type ReactNode, useEffect, useState } from "react";
import { CopyButton } from "../ui/copy-button.tsx";
import { ScrollRegion } from "../ui/scroll-region.tsx";
import { CodeBlock } from "./code-block.tsx";
import { drawDiagram, type Picture, useThemeName } from "./draw-diagram.ts";
import { createModuleHook } from "./load-on-demand.ts";

const useMermaid = createModuleHook(async () => (await import("mermaid")).default);

/** Longer diagrams stay code: their layout takes too long. */
export const maxDiagramLength = 5000;

/** A Mermaid diagram as an image, in which nothing can run, load or be clicked. Shows the code until it is drawn. */
export function Diagram({ code }: { readonly code: string }): ReactNode {
  const mermaid = useMermaid(true);
  const theme = useThemeName();
  const [picture, setPicture] = useState<Picture>();
  useEffect(() => {
    if (!mermaid) return;
    let isDisposed = false;
    let url: string | undefined;
    void drawDiagram(mermaid, code, theme).then((drawn) => {
      if (isDisposed) return drawn && URL.revokeObjectURL(drawn.url);
      url = drawn?.url;
      setPicture(drawn);
    });
    return () => {
      isDisposed = true;
      if (url !== undefined) URL.revokeObjectURL(url);
    };
  }, [mermaid, code, theme]);
  if (!picture) return <CodeBlock code={code} language="mermaid" />;
  return (
    <figure aria-label="Diagram" className="my-4 overflow-hidden rounded-lg border bg-raised">
      <figcaption className="flex min-h-9 items-center justify-between border-b pr-1 pl-3 text-quiet text-xs">
        Diagram
        <CopyButton label="Copy code" text={() => code} />
      </figcaption>
      <ScrollRegion role="group" label="Diagram" className="overflow-x-auto p-3">
        <img
          src={picture.url}
          alt="The diagram described by the code below"
          width={picture.width}
          height={picture.height}
          className="mx-auto h-auto max-h-[32rem] max-w-full object-contain max-sm:max-w-[160%]"
        />
      </ScrollRegion>
      <details className="border-t text-sm">
        <summary className="cursor-pointer px-3 py-1.5 pointer-coarse:py-3 text-quiet hover:text-ink">
          Code
        </summary>
        <div className="px-3 pb-1">
          <CodeBlock code={code} language="mermaid" />
        </div>
      </details>
    </figure>
  );
}
