import { defineTool, suggestName, type Tool } from "capstan";
import type { Library } from "../library/library.ts";
import type { Passage } from "../library/search-index.ts";
import { contextsOf, sourcesHint, titled } from "./passages.ts";

const longestText = 12_000;

/** `get_document`: a whole document, or one section of it. */
export function getDocument(library: Library, sources?: readonly string[]): Tool {
  return defineTool({
    name: "get_document",
    description:
      "Opens a document, or one section of it, by the id that a search gave: such as zod, docs/tools.md or zod#basic-usage.",
    input: {
      type: "object",
      properties: {
        id: {
          type: "string",
          minLength: 1,
          maxLength: 300,
          description: "The id of a document or a passage.",
        },
        section: { type: "string", maxLength: 300, description: "A heading; left out, the whole document." },
      },
      required: ["id"],
      additionalProperties: false,
    },
    examples: [
      { phrase: "open the document {id}" },
      { phrase: "open {id}" },
      { phrase: "read the document {id}" },
      { phrase: "show the section {section} of the document {id}" },
      { phrase: "read the section {section} of {id}" },
    ],
    effects: "none",
    reads: library.reads,
    async execute({ id, section }, { progress }) {
      const index = await library.open(progress);
      const [document = id, anchor] = id.split(/#(?=[^#]*$)/);
      const all = index.document(document, sources).map(titled);
      if (all.length === 0)
        return refused(`There is no document "${document}".${suggestName(document, index.documentIds())}`);
      const wanted = section ?? anchor;
      const passages = wanted === undefined ? all : all.filter((passage) => isOf(passage, wanted));
      if (passages.length === 0)
        return refused(`"${document}" has no section "${wanted}". It has: ${headings(all).join("; ")}.`);
      const shown = within(passages);
      const left = passages.length - shown.length;
      const [first] = passages;
      return {
        message: `${first?.title}${left > 0 ? `, the first ${shown.length} of ${passages.length} parts` : ""}.`,
        content: [
          shown.map(({ text }) => text).join("\n\n"),
          ...(left > 0 ? [`(There is more. Sections: ${headings(all).join("; ")}.)`] : []),
        ].join("\n\n"),
        data: { id: document, title: first?.title ?? document, sections: headings(all) },
        contexts: contextsOf(shown),
        ui: sourcesHint(document, shown, wanted ?? ""),
      };
    },
  });
}

/** Another attempt would find no more. */
const refused = (error: string): { readonly error: string; readonly retryable: false } => ({
  error,
  retryable: false,
});

/** By its heading in any case of letters, or by its anchor with all parts of it. */
function isOf({ id, heading }: Passage, section: string): boolean {
  const anchor = id.slice(id.lastIndexOf("#") + 1);
  const plain = (text: string) =>
    text
      .toLowerCase()
      .replace(/[^\p{L}\p{N}]+/gu, " ")
      .trim();
  return plain(heading) === plain(section) || anchor === section || anchor.startsWith(`${section}~`);
}

const headings = (passages: readonly Passage[]): readonly string[] =>
  [...new Set(passages.map(({ heading }) => heading))].filter((heading) => heading !== "").slice(0, 60);

function within(passages: readonly Passage[]): readonly Passage[] {
  let length = 0;
  const fitting = passages.filter(({ text }) => {
    length += text.length;
    return length <= longestText;
  });
  return fitting.length > 0 ? fitting : passages.slice(0, 1);
}
