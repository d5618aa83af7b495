/** Input of the worker. */
export type ExtractTask =
  | { readonly type: "html"; readonly html: string; readonly url: string; readonly maxCharacters: number }
  | { readonly type: "pdf"; readonly bytes: Uint8Array; readonly maxCharacters: number };

/** Extracted content, as text or Markdown. */
export type Extracted = {
  readonly title?: string;
  readonly text: string;
  /** The ids of the headings of a page, by their text. */
  readonly anchors?: { readonly [heading: string]: string };
};

/** Output of the worker. */
export type ExtractAnswer = { readonly extracted: Extracted } | { readonly problem: string };
