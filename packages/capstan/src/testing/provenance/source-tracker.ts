// A slow reference for labels and provenance. Every text of a conversation carries a mark, such as `⟦12⟧`, and the tracker
// knows the sources of every mark. It never sees a fact or a state: it learns what a model is sent, what it writes, and what
// tools return, store and read, and follows the marks. Nothing may happen in parallel.
import type { Entry, ResultEntry } from "../../kernel/history.ts";
import type { Provenance } from "../../kernel/provenance.ts";
import type { Reads } from "../../kernel/tool.ts";

/** Something that neither the user nor the operator wrote, or that is not public. */
type TrackedSource = {
  readonly untrusted: "application" | "external" | undefined;
  readonly isPrivate: boolean;
};

/** What a conversation, a text or a stored result contains. */
export type Kinds = TrackedSource;

/** Everything that the models of one memory have read: a session's, one run's or a nested run's. */
export type Conversation = {
  readonly read: Set<TrackedSource>;
  readonly parent: Conversation | undefined;
  /** Results and summaries that a client sent: their origin is unknown. */
  readonly received: Set<string>;
};

type TrackedText = {
  readonly author: Provenance | "model" | "tool";
  readonly sources: ReadonlySet<TrackedSource>;
};

export type Tracker = {
  readonly texts: Map<string, TrackedText>;
  /** Stored results, by handle. */
  stored: Map<string, Kinds>;
  /** Calls whose results have other labels than their text. */
  readonly calls: Map<string, Kinds>;
  /** The current conversation. */
  current: Conversation;
};

export function createTracker(): Tracker {
  return { texts: new Map(), stored: new Map(), calls: new Map(), current: openConversation() };
}

/** A nested run starts with everything that its caller has read, because the caller writes its prompt. */
export function openConversation(parent?: Conversation): Conversation {
  return { read: new Set(parent?.read), parent, received: new Set() };
}

const unknown: TrackedSource = { untrusted: "external", isPrivate: true };

export function findKinds(sources: Iterable<TrackedSource>): Kinds {
  const all = [...sources];
  const has = (kind: TrackedSource["untrusted"]) => all.some(({ untrusted }) => untrusted === kind);
  return {
    untrusted: has("external") ? "external" : has("application") ? "application" : undefined,
    isPrivate: all.some(({ isPrivate }) => isPrivate),
  };
}

export function toReads({ untrusted, isPrivate }: Kinds): readonly Reads[] {
  return [...(untrusted ? (["untrusted"] as const) : []), ...(isPrivate ? (["private"] as const) : [])];
}

export function findMarks(text: string): string[] {
  return [...text.matchAll(/⟦(\d+)⟧/g)].map(([, mark = ""]) => mark);
}

/** A text's own mark comes first; it may quote others. */
function findOwnMark(value: unknown): string | undefined {
  return findMarks(JSON.stringify(value))[0];
}

function addText({ texts }: Tracker, text: TrackedText): string {
  const mark = `${texts.size + 1}`;
  texts.set(mark, text);
  return `⟦${mark}⟧`;
}

function getText({ texts }: Tracker, mark = "none"): TrackedText {
  const text = texts.get(mark);
  if (!text) throw new Error(`No text has the mark ${mark}.`);
  return text;
}

/** A message is added to the input of a run. */
export function addInput(
  tracker: Tracker,
  conversation: Conversation,
  author: "user" | "application",
): string {
  tracker.current = conversation;
  if (author === "user") return addText(tracker, { author, sources: new Set() });
  const source = { untrusted: author, isPrivate: true };
  conversation.read.add(source);
  return addText(tracker, { author, sources: new Set([source]) });
}

/** A client sends an entry from the history it keeps. */
export function receiveEntry(tracker: Tracker, conversation: Conversation, entry: Entry): void {
  if (entry.type === "result" || entry.type === "summary") {
    conversation.received.add(toKey(entry));
    conversation.read.add(unknown);
    return;
  }
  const { untrusted } = findKinds(getText(tracker, findOwnMark(entry)).sources);
  if (untrusted) conversation.read.add({ untrusted, isPrivate: true });
}

function toKey(entry: Entry): string {
  return entry.type === "result" ? entry.callId : `⟦${findOwnMark(entry)}⟧`;
}

/** A third party describes a tool. */
export function addDescription(tracker: Tracker): string {
  const source = { untrusted: "external", isPrivate: false } as const;
  return addText(tracker, { author: "external", sources: new Set([source]) });
}

/** A model is sent a text: it reads everything whose mark is in it. */
export function readText(tracker: Tracker, conversation: Conversation, text: string): void {
  tracker.current = conversation;
  for (const mark of findMarks(text))
    for (const source of getText(tracker, mark).sources) conversation.read.add(source);
}

/** A model writes a text. It may contain anything that the model has read. */
export function recordText(tracker: Tracker, conversation: Conversation): string {
  return addText(tracker, { author: "model", sources: new Set(conversation.read) });
}

/** A tool returns a text with these labels. */
export function addResult(tracker: Tracker, conversation: Conversation, reads: readonly Reads[]): string {
  tracker.current = conversation;
  const isUntrusted = reads.includes("untrusted");
  const source = {
    untrusted: isUntrusted ? ("external" as const) : undefined,
    isPrivate: reads.includes("private"),
  };
  const sources = new Set(isUntrusted || source.isPrivate ? [source] : []);
  for (const added of sources) conversation.read.add(added);
  return addText(tracker, { author: "tool", sources });
}

/** A nested run ends with its answer, which becomes a result for its caller. */
export function endNested(tracker: Tracker, { read, parent }: Conversation): void {
  if (!parent) return;
  tracker.current = parent;
  addAsResult(parent, read);
}

/** A nested run never ends. Its caller gets no result, but the passages that it has found. */
export function abandonNested(tracker: Tracker, { read, parent }: Conversation): void {
  if (!parent) return;
  tracker.current = parent;
  for (const source of read) parent.read.add(source);
}

/** A nested run is cut off in the middle: the sources of its result are unknown. */
export function cutNested(tracker: Tracker, { conversation, callId }: Caller): void {
  endNested(tracker, conversation);
  tracker.calls.set(callId, findKinds(conversation.read));
}

/** A result is stored. The tool may have returned what the model had passed to it. */
export function storeText({ stored, current }: Tracker, handle: string): void {
  stored.set(handle, findKinds(current.read));
}

/** A call in a conversation. */
export type Caller = { readonly conversation: Conversation; readonly callId: string };

/** A tool reads a stored result, or nothing. */
export function fetchText(tracker: Tracker, { conversation, callId }: Caller, handle: string): void {
  tracker.current = conversation;
  const kinds = findStoredKinds(tracker, handle);
  addAsResult(conversation, [kinds]);
  tracker.calls.set(callId, kinds);
}

/** The labels of a result do not tell an application from anyone else. */
function addAsResult(conversation: Conversation, sources: Iterable<TrackedSource>): void {
  const { untrusted, isPrivate } = findKinds(sources);
  if (untrusted || isPrivate) conversation.read.add({ untrusted: untrusted && "external", isPrivate });
}

/** A session is exported and imported again: everything in it becomes external. */
export function importTexts({ texts, stored, calls }: Tracker, history: readonly Entry[]): Conversation {
  for (const entry of history) if (entry.type === "result") calls.set(entry.callId, unknown);
  for (const mark of texts.keys()) texts.set(mark, { author: "external", sources: new Set([unknown]) });
  for (const handle of stored.keys()) stored.set(handle, unknown);
  const imported = openConversation();
  imported.read.add(unknown);
  return imported;
}

export function findStoredKinds({ stored }: Tracker, handle: string): Kinds {
  return stored.get(handle) ?? unknown;
}

export type EntryDescription = { readonly provenance: Provenance; readonly reads?: readonly Reads[] };

/** Returns the author of an entry, and the labels of a result. */
export function describeEntry(tracker: Tracker, conversation: Conversation, entry: Entry): EntryDescription {
  const isReceived = conversation.received.has(toKey(entry));
  if (entry.type === "result") {
    const reads = toReads(isReceived ? unknown : findResultKinds(tracker, entry));
    return { provenance: reads.includes("untrusted") ? "external" : "operator", reads };
  }
  if (isReceived) return { provenance: "external" };
  const { author, sources } = getText(tracker, findOwnMark(entry));
  if (author !== "model" && author !== "tool") return { provenance: author };
  return { provenance: findKinds(sources).untrusted ?? "operator" };
}

function findResultKinds(tracker: Tracker, entry: ResultEntry): Kinds {
  const known = tracker.calls.get(entry.callId);
  if (known) return known;
  const mark = findOwnMark(entry.content);
  return findKinds(mark === undefined ? [] : getText(tracker, mark).sources);
}
