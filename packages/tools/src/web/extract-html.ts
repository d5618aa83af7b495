import type { Extracted } from "./extract-task.ts";

const maxNodes = 100_000;
const maxDepth = 256;

/**
 * Extracts the readable part of a page as Markdown: title, headings, lists, tables, code, and absolute links. Drops
 * scripts, styles, comments and hidden elements. Never loads anything the page refers to.
 */
export async function extractHtml(html: string, url: string): Promise<Extracted> {
  const [{ Parser }, { parseHTML }, { Defuddle }] = await Promise.all([
    import("htmlparser2"),
    import("linkedom"),
    import("defuddle/node"),
  ]);
  const { title, isDocument } = measurePage(html, Parser);
  const { document } = parseHTML(isDocument ? html : `<!doctype html><html><body>${html}</body></html>`);
  const anchors = findAnchors(document);
  // Properties that defuddle expects and linkedom lacks.
  Object.assign(document, { styleSheets: document.styleSheets ?? [], URL: url });
  // useAsync: false keeps defuddle from calling third-party services for some sites.
  const options = { markdown: true, useAsync: false, fetch: rejectFetch };
  const found = await Defuddle(document, url, options);
  const text = found.content.trim() || getPlainText(document);
  return { text, anchors, ...formatTitle(found.title || title) };
}

const maxAnchors = 500;

/** Finds the ids of headings, before the extraction drops them: their own, or the id of an element in or around them. */
function findAnchors(document: Document): { readonly [heading: string]: string } {
  const anchors = new Map<string, string>();
  for (const heading of document.querySelectorAll("h1, h2, h3, h4, h5, h6")) {
    const text = (heading.textContent ?? "")
      .replace(/\s+/g, " ")
      .replace(/[`*_\\]|[#¶]\s*$/g, "")
      .trim();
    const parent = heading.parentElement;
    const around = parent?.firstElementChild === heading ? parent : undefined;
    const id = heading.id || heading.querySelector("[id]")?.id || around?.id;
    if (text !== "" && id && !anchors.has(text) && anchors.size < maxAnchors) anchors.set(text, id);
  }
  return Object.fromEntries(anchors);
}

function formatTitle(title: string): { readonly title?: string } {
  const line = title.replace(/\s+/g, " ").trim().slice(0, 300);
  return line === "" ? {} : { title: line };
}

function rejectFetch(): Promise<Response> {
  return Promise.reject(new Error("Extraction does not load resources."));
}

type PageMeasure = { readonly title: string; readonly isDocument: boolean };

/** Counts with the parser that builds the tree, before it is built. Throws if the page is too large. */
function measurePage(html: string, Parser: typeof import("htmlparser2").Parser): PageMeasure {
  let [nodes, depth, title, first] = [0, 0, "", ""];
  let isInTitle = false;
  const countNode = () => {
    nodes += 1;
    if (nodes > maxNodes) throw new Error(`the page has more than ${maxNodes} nodes`);
  };
  const parser = new Parser({
    onopentag(name, attributes) {
      countNode();
      for (const _ of Object.keys(attributes)) countNode();
      depth += 1;
      first ||= name;
      isInTitle = name === "title" && title === "";
      if (depth > maxDepth) throw new Error(`the page is nested deeper than ${maxDepth} levels`);
    },
    onclosetag() {
      depth -= 1;
      isInTitle = false;
    },
    ontext(text) {
      countNode();
      if (isInTitle && title.length < 1000) title += text;
    },
    oncomment: countNode,
  });
  parser.end(html);
  return { title, isDocument: first === "html" };
}

/** Fallback for pages without an article. */
function getPlainText(document: Document): string {
  for (const element of document.querySelectorAll("script, style, template, noscript")) element.remove();
  const text = document.documentElement?.textContent ?? "";
  return text
    .replace(/[^\S\n]+/g, " ")
    .replace(/\s*\n\s*/g, "\n")
    .trim();
}
