import type { Fact, Json } from "capstan";
import type { A2aFrame, A2aMessage, A2aPart, A2aPlace, A2aState, A2aStatus, A2aTask } from "./wire.ts";

export type Metadata = { readonly [key: string]: Json };

/** A mutable task; each change returns the frames that describe it. */
export interface TaskRecord {
  getState(): A2aState;
  setStart(fact: Fact): void;
  /** Adds a message to the history. */
  addMessage(fact: Fact, role: A2aMessage["role"], parts: readonly A2aPart[]): A2aMessage;
  setStatus(fact: Fact, getState: A2aState, words?: StatusContent): readonly A2aFrame[];
  /** Appends agent text. The first text of a message replaces the artifact. */
  appendText(text: string): readonly A2aFrame[];
  /** Starts a new message, or the same one again. */
  resetText(): void;
  /** Returns the text of the current message so far. */
  getText(): string;
  /** Completes the artifact with the final answer. */
  setAnswer(text: string, data: readonly A2aPart[]): readonly A2aFrame[];
  addMetadata(more: Metadata): void;
  getTask(): A2aTask;
}

export type StatusContent = { readonly parts?: readonly A2aPart[]; readonly metadata?: Metadata };

const artifactId = "answer";

export function createTaskRecord(place: A2aPlace): TaskRecord {
  const history: A2aMessage[] = [];
  let status: A2aStatus = { state: "TASK_STATE_SUBMITTED", timestamp: toTimestamp(0) };
  let shown: readonly A2aPart[] = [];
  let metadata: Metadata = {};
  let said = "";

  function addMessage(fact: Fact, role: A2aMessage["role"], parts: readonly A2aPart[]): A2aMessage {
    const message = { messageId: fact.id, role, parts, ...place };
    history.push(message);
    return message;
  }
  function updateArtifact(
    parts: readonly A2aPart[],
    append: boolean,
    lastChunk = false,
  ): readonly A2aFrame[] {
    shown = mergeTextParts(append ? [...shown, ...parts] : parts);
    const artifact = { artifactId, name: artifactId, parts };
    return [{ artifactUpdate: { ...place, artifact, append, lastChunk } }];
  }

  return {
    getState: () => status.state,
    addMessage,
    setStart({ at }) {
      status = { state: "TASK_STATE_SUBMITTED", timestamp: toTimestamp(at) };
    },
    setStatus(fact, state, { parts = [], metadata: more } = {}) {
      const message = parts.length > 0 ? { message: addMessage(fact, "ROLE_AGENT", parts) } : {};
      status = { state, timestamp: toTimestamp(fact.at), ...message };
      return [{ statusUpdate: { ...place, status, ...(more && { metadata: more }) } }];
    },
    appendText(text) {
      if (!text) return [];
      const isMore = said !== "";
      said += text;
      return updateArtifact([{ text }], isMore);
    },
    resetText() {
      said = "";
    },
    getText: () => said,
    setAnswer(text, data) {
      const before = shown.map((part) => ("text" in part ? part.text : "")).join("");
      const isMore = before !== "" && (text.startsWith(before) || text.trim() === before.trim());
      const rest = isMore ? text.slice(before.length) : text;
      const parts = [...(rest ? [{ text: rest }] : []), ...data];
      return parts.length > 0 ? updateArtifact(parts, isMore, true) : [];
    },
    addMetadata(more) {
      metadata = { ...metadata, ...more };
    },
    getTask: () => ({
      ...{ id: place.taskId, contextId: place.contextId, status, metadata },
      artifacts: shown.length > 0 ? [{ artifactId, name: artifactId, parts: shown }] : [],
      history: [...history],
    }),
  };
}

function toTimestamp(at: number): string {
  return new Date(at).toISOString();
}

function mergeTextParts(parts: readonly A2aPart[]): readonly A2aPart[] {
  const made: A2aPart[] = [];
  for (const part of parts) {
    const last = made.at(-1);
    if (last && "text" in last && "text" in part) made[made.length - 1] = { text: last.text + part.text };
    else made.push(part);
  }
  return made;
}
