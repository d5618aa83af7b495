import type { Fact, Json } from "capstan";
import type { A2aFrame, A2aMessage, A2aPart, A2aPlace, A2aState, A2aStatus, A2aTask } from "./wire.ts";

export type Metadata = { readonly [key: string]: Json };

/** A task while it is being written: each change gives the frames that tell of it. */
export interface TaskRecord {
  state(): A2aState;
  begin(fact: Fact): void;
  /** Puts a message into the history. */
  note(fact: Fact, role: A2aMessage["role"], parts: readonly A2aPart[]): A2aMessage;
  become(fact: Fact, state: A2aState, words?: StatusWords): readonly A2aFrame[];
  /** Words of the agent; those of a new message take the place of those before. */
  speak(text: string): readonly A2aFrame[];
  /** The agent begins a message, perhaps the same one again. */
  hush(): void;
  /** Words of the message that have come so far. */
  said(): string;
  /** The whole answer: what the artifact does not say already. */
  answer(text: string, data: readonly A2aPart[]): readonly A2aFrame[];
  about(more: Metadata): void;
  task(): A2aTask;
}

export type StatusWords = { readonly parts?: readonly A2aPart[]; readonly metadata?: Metadata };

const artifactId = "answer";

/** An empty one. */
export function taskRecord(place: A2aPlace): TaskRecord {
  const history: A2aMessage[] = [];
  let status: A2aStatus = { state: "TASK_STATE_SUBMITTED", timestamp: timeOf(0) };
  let shown: readonly A2aPart[] = [];
  let metadata: Metadata = {};
  let said = "";

  function note(fact: Fact, role: A2aMessage["role"], parts: readonly A2aPart[]): A2aMessage {
    const message = { messageId: fact.id, role, parts, ...place };
    history.push(message);
    return message;
  }
  function write(parts: readonly A2aPart[], append: boolean, lastChunk = false): readonly A2aFrame[] {
    shown = joined(append ? [...shown, ...parts] : parts);
    const artifact = { artifactId, name: artifactId, parts };
    return [{ artifactUpdate: { ...place, artifact, append, lastChunk } }];
  }

  return {
    state: () => status.state,
    note,
    begin({ at }) {
      status = { state: "TASK_STATE_SUBMITTED", timestamp: timeOf(at) };
    },
    become(fact, state, { parts = [], metadata: more } = {}) {
      const message = parts.length > 0 ? { message: note(fact, "ROLE_AGENT", parts) } : {};
      status = { state, timestamp: timeOf(fact.at), ...message };
      return [{ statusUpdate: { ...place, status, ...(more && { metadata: more }) } }];
    },
    speak(text) {
      if (!text) return [];
      const isMore = said !== "";
      said += text;
      return write([{ text }], isMore);
    },
    hush() {
      said = "";
    },
    said: () => said,
    answer(text, data) {
      const before = shown.map((part) => ("text" in part ? part.text : "")).join("");
      const isMore = before !== "" && (text.startsWith(before) || text.trim() === before.trim());
      const rest = isMore ? text.slice(before.length) : text;
      const parts = [...(rest ? [{ text: rest }] : []), ...data];
      return parts.length > 0 ? write(parts, isMore, true) : [];
    },
    about(more) {
      metadata = { ...metadata, ...more };
    },
    task: () => ({
      ...{ id: place.taskId, contextId: place.contextId, status, metadata },
      artifacts: shown.length > 0 ? [{ artifactId, name: artifactId, parts: shown }] : [],
      history: [...history],
    }),
  };
}

function timeOf(at: number): string {
  return new Date(at).toISOString();
}

/** Words that follow words are one part. */
function joined(parts: readonly A2aPart[]): readonly A2aPart[] {
  const made: A2aPart[] = [];
  for (const part of parts) {
    const last = made.at(-1);
    if (last && "text" in last && "text" in part) made[made.length - 1] = { text: last.text + part.text };
    else made.push(part);
  }
  return made;
}
