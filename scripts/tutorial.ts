// Reads docs/tutorial.md as its reader does. A block of TypeScript that begins with "// file: x.ts" is a file to write.
// A block of shell is run: "sh" to its end, "sh server" until it is told to leave, "sh terminal" in a terminal with a
// person, "sh clone" in a clone of this repository. A block of text is what the command before it shows: a line "…" is
// any number of lines, a "…" in a line is anything.

export type TutorialBlock =
  | { readonly type: "file"; readonly path: string; readonly text: string }
  | { readonly type: "shell"; readonly how: Manner; readonly script: string; readonly shown?: string };

/** How a block of shell is run. */
export type Manner = "here" | "server" | "terminal" | "clone";

/** The blocks in order. Throws for one that nobody would know what to do with. */
export function tutorialBlocks(page: string): TutorialBlock[] {
  const blocks: TutorialBlock[] = [];
  for (const [, info = "", text = ""] of page.matchAll(/^```(\S.*)\n([\s\S]*?)^```$/gm)) {
    const last = blocks.at(-1);
    const [language, manner = "here"] = info.split(" ");
    const path = /^\/\/ file: ([\w./-]+)\n/.exec(text)?.[1];
    if (language === "ts" && path !== undefined) blocks.push({ type: "file", path, text });
    else if (language === "sh" && isManner(manner)) blocks.push({ type: "shell", how: manner, script: text });
    else if (language === "text" && last?.type === "shell" && last.shown === undefined)
      blocks[blocks.length - 1] = { ...last, shown: text };
    else throw new Error(`Nobody knows what to do with this block of the tutorial:\n${text}`);
  }
  return blocks;
}

const isManner = (word: string): word is Manner => /^(?:here|server|terminal|clone)$/.test(word);

/** What an output must be, or contain, to be what is shown. */
export function patternOf(shown: string, where: "all" | "within"): RegExp {
  const lines = shown
    .trimEnd()
    .split("\n")
    .map((line) => (line === "…" ? "(?:.*\n)*?" : `${line.split("…").map(escaped).join(".*")}[ \\t]*\n`));
  const pattern = lines.join("");
  return new RegExp(where === "all" ? `^${pattern}\\s*$` : `(?:^|\n)${pattern}`);
}

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");
