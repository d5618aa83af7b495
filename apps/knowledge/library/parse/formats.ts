import { basename, extname } from "node:path";

export type Format = "markdown" | "text" | "html" | "pdf" | "docx" | "epub" | "csv" | "mail" | "code";

const extensions: readonly (readonly [Format, string])[] = [
  ["markdown", ".md .markdown .mdx"],
  ["text", ".txt .text .log .rst .adoc .org .tex"],
  ["html", ".html .htm .xhtml"],
  ["pdf", ".pdf"],
  ["docx", ".docx"],
  ["epub", ".epub"],
  ["csv", ".csv .tsv"],
  ["mail", ".eml .mbox"],
  [
    "code",
    ".ts .tsx .mts .cts .js .jsx .mjs .cjs .py .rb .go .rs .java .kt .kts .swift .c .h .cc .cpp .hpp .cs .php .sh .bash " +
      ".ps1 .sql .lua .r .scala .dart .ex .exs .hs .clj .vue .svelte .css .scss .json .jsonc .yaml .yml .toml .ini .xml " +
      ".graphql .proto .tf",
  ],
];

const formats: ReadonlyMap<string, Format> = new Map(
  extensions.flatMap(([format, list]) => list.split(" ").map((extension) => [extension, format])),
);

/** Files without an extension that are text by convention. */
const namedTexts = /^(?:readme|license|licence|copying|changelog|authors|notice|todo|makefile|dockerfile)$/i;

export const documentExtensions: readonly string[] = [...formats.keys()];

/** Returns the format by the name of the file; undefined for a file that is not read. */
export function findFormat(path: string): Format | undefined {
  return formats.get(extname(path).toLowerCase()) ?? (namedTexts.test(basename(path)) ? "text" : undefined);
}
