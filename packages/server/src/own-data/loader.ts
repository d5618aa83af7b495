import type { Agent, Json } from "capstan";
import type { AgentProfile } from "../views/server-info.ts";

/** Opens an app on the user's own data: files, folders, or the address of a database. */
export interface DataLoader {
  /** What it reads, for people, as in "It reads documents: Markdown, text, HTML, PDF, Word, EPUB". */
  readonly description: string;
  /** File name extensions in lower case, such as `.csv`. */
  readonly extensions: readonly string[];
  readonly acceptsFolders: boolean;
  /** URL schemes it connects to, such as `bolt:`. Default: none. */
  readonly schemes?: readonly string[];
  /** Choices that the user may make, by name, with what each one means: `{ source: "column of the first node" }`. Default: none. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Rejects with an `AgentError` if nothing could be read; a single bad file is reported as skipped. */
  load(request: LoadRequest): Promise<LoadedData>;
}

export type LoadRequest = {
  /** Name for the agent, unique in the server, such as `knowledge-notes`. */
  readonly name: string;
  /** What the user calls the data: the name of the folder or file, unless renamed. */
  readonly title: string;
  /** Absolute paths of files and folders, or URLs. */
  readonly locations: readonly string[];
  /** Choices of the user, such as the columns of a table. */
  readonly settings: Readonly<Record<string, Json>>;
  /**
   * An own folder for an index or copies. It is kept between starts and removed with the data. Another process may have
   * it open. `files` in it has the uploaded files.
   */
  readonly folder: string;
  readonly signal: AbortSignal;
  onProgress(progress: LoadProgress): void;
};

export type LoadProgress = {
  readonly done: number;
  /** Unknown while still looking. */
  readonly total?: number;
  /** What is being read now. */
  readonly item?: string;
};

/** The app on the data. */
export type LoadedData = {
  /** The first is named as requested; others are its specialists, with names that start with it. */
  readonly agents: readonly Agent[];
  readonly profile: AgentProfile;
  /** As of now: it changes when watched files do. */
  report(): LoadReport;
  close?(): Promise<void>;
};

export type LoadReport = {
  /** How many were read, and of what: `{ documents: 12, passages: 340 }`, `{ nodes: 20, edges: 31 }`. */
  readonly counts: Readonly<Record<string, number>>;
  readonly skipped: readonly SkippedItem[];
};

export type SkippedItem = {
  readonly item: string;
  /** One sentence: "The file is larger than 50 MB." */
  readonly reason: string;
};
