/** What a worker is to make readable. */
export type ExtractTask =
  | { readonly type: "html"; readonly html: string; readonly url: string; readonly maxCharacters: number }
  | { readonly type: "pdf"; readonly bytes: Uint8Array; readonly maxCharacters: number };

/** What a document says, as a text or as Markdown. */
export type Extracted = { readonly title?: string; readonly text: string };

/** What a worker answers. */
export type ExtractAnswer = { readonly extracted: Extracted } | { readonly problem: string };
