import { globSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

type Source = { readonly path: string; readonly text: string };

const uses: Readonly<Record<string, RegExp>> = {
  "messages of other windows":
    /\bpostMessage\b|\bonmessage(?:error)?\b|["'`]message["'`]\s*,\s*(?:\(|\w+\s*=>|function\b|on)/,
  "a listener to messages": /addEventListener\(\s*["'`]message(?:error)?["'`]/,
  "channels between windows": /\bnew\s+(?:BroadcastChannel|MessageChannel|SharedWorker)\b/,
  "windows that it opens, or was opened by": /\bwindow\.open\b|\bopener\b|\bwindow\.(?:parent|top)\b/,
};

/** Each tag that opens another window, up to its end. */
const openings = /<\w+\b[^<>]*\btarget=[^<>]*>/g;

function findProblems({ path, text }: Source): string[] {
  const used = Object.entries(uses).filter(([, use]) => use.test(text));
  const open = [...text.matchAll(openings)].filter(
    ([tag]) => !/\brel="[^"]*\bnoopener\b[^"]*\bnoreferrer\b[^"]*"/.test(tag),
  );
  return [
    ...used.map(([name]) => `${path} uses ${name}.`),
    ...open.map(([tag]) => `${path} opens a window that keeps its opener: ${tag}`),
  ];
}

describe("the studio and other windows", () => {
  const sources = globSync("**/*.{ts,tsx,html}", { cwd: import.meta.dirname })
    .map((path) => path.replaceAll("\\", "/"))
    .filter((path) => !/\.test\.tsx?$/.test(path) && !path.startsWith("testing/"))
    .map((path) => ({ path, text: readFileSync(`${import.meta.dirname}/${path}`, "utf8") }));

  it("exchanges no messages with other windows, and opened windows get no opener (A73)", () => {
    expect(sources.length).toBeGreaterThan(100);
    // The frame of an app: its messages are checked for their window and its opaque origin (A140).
    const isBridge = ({ path }: Source) => path === "apps/app-frame.tsx" || path.startsWith("widget-page/");
    expect(sources.filter((source) => !isBridge(source)).flatMap(findProblems)).toEqual([]);
    expect(sources.filter(isBridge).flatMap(findProblems).toSorted()).toMatchInlineSnapshot(`
      [
        "apps/app-frame.tsx uses a listener to messages.",
        "apps/app-frame.tsx uses messages of other windows.",
        "widget-page/connect-host.ts uses a listener to messages.",
        "widget-page/connect-host.ts uses messages of other windows.",
      ]
    `);
    const opening = sources.filter(({ text }) => text.includes("_blank"));
    // Every place that opens a window has been looked at.
    expect(opening.length).toBeGreaterThan(2);
    for (const { path, text } of opening)
      expect([path, text.split("_blank").length - 1]).toEqual([path, [...text.matchAll(openings)].length]);
  });

  it.each([
    'window.addEventListener("message", hear);',
    "window.onmessage = hear;",
    'frame.contentWindow.postMessage(secret, "*");',
    'new BroadcastChannel("studio");',
    "window.open(url);",
    "const from = window.opener;",
    '<a href={url} target="_blank">',
    '<a href={url} target="_blank" rel="noreferrer">',
  ])("would be found: %s (A73)", (text) => {
    expect(findProblems({ path: "a.tsx", text })).toHaveLength(1);
  });
});
