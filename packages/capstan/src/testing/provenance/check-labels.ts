import type { Entry } from "../../kernel/history.ts";
import { getProvenance, type Labels } from "../../kernel/provenance.ts";
import type { State } from "../../kernel/state.ts";
import { apply, fold } from "../../runtime/facts.ts";
import { parseState, serializeState } from "../../runtime/snapshot.ts";
import type { World } from "./run-conversation.ts";
import {
  type Conversation,
  describeEntry,
  type EntryDescription,
  findKinds,
  findStoredKinds,
  type Kinds,
  type Tracker,
  toReads,
} from "./source-tracker.ts";

/** Throws unless the state, folded from the facts, has the labels and the provenance that the tracker has found. */
export async function checkLabels({ tracker, store, sessionId, memory }: World): Promise<void> {
  const facts = await store.read(sessionId);
  const state = fold(sessionId, facts);
  checkConversation(tracker, state, memory.aside ?? memory.session);
  if (state.sessionMemory) checkConversation(tracker, state.sessionMemory, memory.session);
  for (const [handle, reads] of state.handles)
    assertEqual(`labels of ${handle}`, reads, toReads(findStoredKinds(tracker, handle)));
  // A snapshot in the middle changes nothing.
  const middle = Math.floor(facts.length / 2);
  const restored = parseState(serializeState(fold(sessionId, facts.slice(0, middle))));
  for (const fact of facts.slice(middle)) apply(restored, fact);
  assertEqual("restored state", pickLabels(restored), pickLabels(state));
}

type Memory = Pick<State, "history" | "labels">;

function checkConversation(tracker: Tracker, { history, labels }: Memory, conversation: Conversation): void {
  assertEqual("labels", toKinds(labels), findKinds(conversation.read));
  for (const entry of history) {
    const what = `provenance of ${JSON.stringify(entry)}`;
    assertEqual(what, summarizeEntry(entry), describeEntry(tracker, conversation, entry));
  }
}

function toKinds({ untrusted, private: privateSources }: Labels): Kinds {
  const isExternal = untrusted.some(({ provenance }) => provenance !== "application");
  return {
    untrusted: isExternal ? "external" : untrusted.length > 0 ? "application" : undefined,
    isPrivate: privateSources.length > 0,
  };
}

function summarizeEntry(entry: Entry): EntryDescription {
  const provenance = getProvenance(entry);
  if (entry.type !== "result") return { provenance };
  const { reads = [] } = entry;
  return { provenance, reads: (["untrusted", "private"] as const).filter((label) => reads.includes(label)) };
}

function pickLabels({ history, labels, handles, sessionMemory }: State): object {
  const memory = sessionMemory && { history: sessionMemory.history, labels: sessionMemory.labels };
  return { history, labels, handles: [...handles], memory };
}

function assertEqual(what: string, actual: unknown, expected: unknown): void {
  const [found, wanted] = [JSON.stringify(actual), JSON.stringify(expected)];
  if (found !== wanted) throw new Error(`The ${what} should be ${wanted}, but the state has ${found}.`);
}
