export const apps = ["airport", "files", "graph", "knowledge", "mcp-bridge"] as const;
export type App = (typeof apps)[number];

/** Something a person might type as one of the first messages to an app, without having read about it. */
export type Sentence = {
  readonly language: "en" | "de" | "fr" | "es" | "it" | "pt";
  readonly kind:
    | "plain"
    | "vague"
    | "typo"
    | "follow-up"
    | "filter"
    | "aggregate"
    | "range"
    | "relation"
    | "change"
    | "chat"
    | "impossible";
  /** Earlier messages of the conversation. */
  readonly after?: readonly string[];
  readonly user: string;
  /** What a right answer does and says. Without it, the app cannot help: it can only ask back or decline. */
  readonly understood?: Understanding;
  /** What is acceptable instead of a right answer. Default: both. */
  readonly allows?: readonly ("ask" | "decline")[];
};

export type Understanding = {
  /** Calls that must be among those made, in any order. */
  readonly calls?: readonly (readonly [tool: string, input?: ExpectedInput])[];
  /** Text that the answer must contain, ignoring case. */
  readonly answers?: readonly (string | RegExp)[];
  /** Text that the answer must not contain. */
  readonly never?: readonly (string | RegExp)[];
};

/** A part of the input. A pattern is tested against the value as JSON. */
export type ExpectedInput = RegExp | { readonly [name: string]: RegExp | string | number | boolean };
