import type { Mermaid } from "mermaid";
import { useSyncExternalStore } from "react";

/** A drawn diagram: an image at a URL of this page. */
export type Picture = { readonly url: string; readonly width: number; readonly height: number };

let count = 0;

/**
 * Draws a diagram into an image. Directives and front matter are removed: they could change the limits and inject
 * styles. Returns undefined for code that is not valid.
 */
export async function drawDiagram(
  mermaid: Mermaid,
  code: string,
  theme: string,
): Promise<Picture | undefined> {
  count += 1;
  try {
    mermaid.initialize({
      ...{ startOnLoad: false, securityLevel: "strict", suppressErrorRendering: true, htmlLabels: false },
      ...{ maxTextSize: 5000, maxEdges: 200, theme: theme === "dark" ? "dark" : "neutral" },
      // The default layout of flowcharts loads three times as much.
      layout: "dagre",
      // An image cannot use the fonts of the page.
      fontFamily: "system-ui, sans-serif",
      flowchart: { htmlLabels: false },
    });
    const { svg } = await mermaid.render(`diagram-${count}`, stripDirectives(code));
    const size = /viewBox="[-\d.]+ [-\d.]+ ([\d.]+) ([\d.]+)"/.exec(svg);
    if (!size) return undefined;
    const [width, height] = [Math.ceil(Number(size[1])), Math.ceil(Number(size[2]))];
    const sized = svg.replace(/^<svg([^>]*?) width="100%"/, `<svg$1 width="${width}" height="${height}"`);
    const url = URL.createObjectURL(new Blob([sized], { type: "image/svg+xml" }));
    return { url, width, height };
  } catch {
    return undefined;
  }
}

function stripDirectives(code: string): string {
  return code.replace(/^\s*---\n[\s\S]*?\n---\s*(?:\n|$)/, "").replace(/%%\s*\{[\s\S]*?\}\s*%%/g, "");
}

/** Returns the name of the current theme. */
export function useThemeName(): string {
  return useSyncExternalStore(
    (onChange) => {
      const observer = new MutationObserver(onChange);
      observer.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
      return () => observer.disconnect();
    },
    () => document.documentElement.dataset.theme ?? "light",
    () => "light",
  );
}
