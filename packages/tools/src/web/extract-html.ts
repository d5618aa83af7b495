import type { Extracted } from "./extract-task.ts";

const mostNodes = 100_000;
const deepest = 256;

/**
 * The readable part of a page as Markdown: title, headings, lists, tables, code, links made absolute. Scripts, styles,
 * comments and what is hidden are left out. Nothing is loaded, whatever the page names.
 */
export async function extractHtml(html: string, url: string): Promise<Extracted> {
  const [{ Parser }, { parseHTML }, { Defuddle }] = await Promise.all([
    import("htmlparser2"),
    import("linkedom"),
    import("defuddle/node"),
  ]);
  const { title, isDocument } = measured(html, Parser);
  const { document } = parseHTML(isDocument ? html : `<!doctype html><html><body>${html}</body></html>`);
  // What defuddle looks for and linkedom does not have.
  Object.assign(document, { styleSheets: document.styleSheets ?? [], URL: url });
  // Without useAsync: false it would ask services of its own choice about some sites.
  const options = { markdown: true, useAsync: false, fetch: neverFetch };
  const found = await Defuddle(document, url, options);
  const text = found.content.trim() || wordsOf(document);
  return { text, ...titled(found.title || title) };
}

function titled(title: string): { readonly title?: string } {
  const line = title.replace(/\s+/g, " ").trim().slice(0, 300);
  return line === "" ? {} : { title: line };
}

function neverFetch(): Promise<Response> {
  return Promise.reject(new Error("Extraction loads nothing."));
}

type Measured = { readonly title: string; readonly isDocument: boolean };

/** With the parser that will build the tree, so that it counts what will be built. Throws when that is too much. */
function measured(html: string, Parser: typeof import("htmlparser2").Parser): Measured {
  let [nodes, depth, title, first] = [0, 0, "", ""];
  let isInTitle = false;
  const count = () => {
    nodes += 1;
    if (nodes > mostNodes) throw new Error(`The page has more than ${mostNodes} elements and texts.`);
  };
  const parser = new Parser({
    onopentag(name, attributes) {
      count();
      for (const _ of Object.keys(attributes)) count();
      depth += 1;
      first ||= name;
      isInTitle = name === "title" && title === "";
      if (depth > deepest) throw new Error(`The page has elements inside elements, ${deepest} deep.`);
    },
    onclosetag() {
      depth -= 1;
      isInTitle = false;
    },
    ontext(text) {
      count();
      if (isInTitle && title.length < 1000) title += text;
    },
    oncomment: count,
  });
  parser.end(html);
  return { title, isDocument: first === "html" };
}

/** For pages without an article in them. */
function wordsOf(document: Document): string {
  for (const silent of document.querySelectorAll("script, style, template, noscript")) silent.remove();
  const text = document.documentElement?.textContent ?? "";
  return text
    .replace(/[^\S\n]+/g, " ")
    .replace(/\s*\n\s*/g, "\n")
    .trim();
}
