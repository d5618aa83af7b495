import { defineTool, suggestName, type Tool } from "capstan";
import type { Library } from "../library/library.ts";
import type { Passage } from "../library/search-index.ts";
import { createSourcesHint, type SourceText, toFragments, toSources } from "./passages.ts";

const maxTextLength = 12_000;

/** `get_document`: returns a whole document or one section. */
export function getDocument(library: Library, sources?: readonly string[]): Tool {
  return defineTool({
    name: "get_document",
    description:
      "Opens a document or one section by an id from a search, such as zod, docs/tools.md or zod#basic-usage.",
    input: {
      type: "object",
      properties: {
        id: {
          type: "string",
          minLength: 1,
          maxLength: 300,
          description: "The id of a document or a passage.",
        },
        section: {
          type: "string",
          maxLength: 300,
          description: "A heading. Omit it for the whole document.",
        },
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
      const all = toSources(library, index.getDocument(document, sources));
      if (all.length === 0)
        return createRefusal(
          `Document "${document}" not found.${suggestName(document, index.listDocumentIds())}`,
        );
      const requestedSection = section ?? anchor;
      const passages =
        requestedSection === undefined
          ? all
          : all.filter((passage) => isInSection(passage, requestedSection));
      if (passages.length === 0)
        return createRefusal(
          `Section "${requestedSection}" not found in "${document}". Sections: ${listHeadings(all).join("; ")}.`,
        );
      const shown = truncatePassages(passages);
      const omittedCount = passages.length - shown.length;
      const [first] = passages;
      return {
        message: `${first?.title}${omittedCount > 0 ? `, the first ${shown.length} of ${passages.length} parts` : ""}.`,
        content: [
          shown.map(({ text }) => text).join("\n\n"),
          ...(omittedCount > 0 ? [`(Truncated. Sections: ${listHeadings(all).join("; ")}.)`] : []),
        ].join("\n\n"),
        data: { id: document, title: first?.title ?? document, sections: listHeadings(all) },
        contexts: toFragments(shown),
        ui: createSourcesHint(document, shown, requestedSection ?? ""),
      };
    },
  });
}

const createRefusal = (error: string): { readonly error: string; readonly retryable: false } => ({
  error,
  retryable: false,
});

/** Matches the heading, ignoring case, or the anchor including its parts. */
function isInSection({ id, heading }: Passage, section: string): boolean {
  const withoutRevision = (text: string) => text.replace(/@\d+$/, "");
  const anchor = withoutRevision(id.slice(id.lastIndexOf("#") + 1));
  const normalizeHeading = (text: string) =>
    text
      .toLowerCase()
      .replace(/[^\p{L}\p{N}]+/gu, " ")
      .trim();
  return (
    normalizeHeading(heading) === normalizeHeading(section) ||
    anchor === withoutRevision(section) ||
    anchor.startsWith(`${section}~`)
  );
}

const listHeadings = (passages: readonly Passage[]): readonly string[] =>
  [...new Set(passages.map(({ heading }) => heading))].filter((heading) => heading !== "").slice(0, 60);

function truncatePassages<Found extends SourceText>(passages: readonly Found[]): readonly Found[] {
  let length = 0;
  const fitting = passages.filter(({ text }) => {
    length += text.length;
    return length <= maxTextLength;
  });
  return fitting.length > 0 ? fitting : passages.slice(0, 1);
}
