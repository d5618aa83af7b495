// An EPUB book is a ZIP archive: META-INF/container.xml names the package file, which lists the chapters in reading order.
import { posix } from "node:path";
import { Parser } from "htmlparser2";
import { buildSections } from "./build-sections.ts";
import { decodeText } from "./decode-text.ts";
import { parseHtml } from "./html.ts";
import type { ParsedDocument } from "./parsed-document.ts";

/** Gets the unpacked files of a book by path. */
export async function parse(files: ReadonlyMap<string, Uint8Array>): Promise<ParsedDocument> {
  if (files.has("META-INF/rights.xml")) throw new Error("It is protected against copying.");
  const packagePath = readElements(files, "META-INF/container.xml", "rootfile")[0]?.attributes["full-path"];
  if (packagePath === undefined) throw new Error("It is not an EPUB book: it names no package file.");
  const elements = (name: string) => readElements(files, packagePath, name);
  const hrefs = new Map(elements("item").map(({ attributes }) => [attributes.id, attributes.href]));
  const chapters = elements("itemref").flatMap(({ attributes }) => {
    const href = hrefs.get(attributes.idref);
    const content = href === undefined ? undefined : files.get(resolvePath(packagePath, href));
    return content ? parseChapter(content) : [];
  });
  const title = elements("dc:title")[0]?.text.trim();
  return { ...(title && { title }), sections: buildSections(chapters) };
}

/** Text before the first heading belongs to the chapter, which has a title. */
function parseChapter(content: Uint8Array): ReturnType<typeof parseHtml>["chapters"] {
  const { title, chapters } = parseHtml(decodeText(content));
  return chapters.map((chapter) => (chapter.heading === "" ? { ...chapter, heading: title } : chapter));
}

function resolvePath(packagePath: string, href: string): string {
  try {
    return posix.join(posix.dirname(packagePath), decodeURIComponent(href));
  } catch {
    return ""; // not a valid address
  }
}

type Element = { readonly attributes: Readonly<Record<string, string>>; text: string };

/** Finds the elements with this name. The parser knows no document types, so that no entity is ever expanded or loaded. */
function readElements(
  files: ReadonlyMap<string, Uint8Array>,
  path: string,
  name: string,
): readonly Element[] {
  const file = files.get(path);
  if (!file) throw new Error(`It is not an EPUB book: it has no "${path}".`);
  const found: Element[] = [];
  let open: Element | undefined;
  const parser = new Parser(
    {
      onopentag(tag, attributes) {
        if (tag !== name && !tag.endsWith(`:${name}`)) return;
        open = { attributes, text: "" };
        found.push(open);
      },
      ontext(text) {
        if (open) open.text += text;
      },
      onclosetag() {
        open = undefined;
      },
    },
    { xmlMode: true },
  );
  parser.end(decodeText(file));
  return found;
}
