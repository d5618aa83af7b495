import type { Section } from "./build-sections.ts";

/** What a parser returns. Parsers run in a worker: they get the bytes or the unpacked files, and import nothing of the app. */
export type ParsedDocument = {
  /** The title that the document gives itself. */
  readonly title?: string;
  readonly sections: readonly Section[];
  /** What was left out, as one sentence: "Only the first 2,000 of 9,000 pages were read." */
  readonly note?: string;
};
