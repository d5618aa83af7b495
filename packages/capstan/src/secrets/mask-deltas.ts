import type { DeltaBody } from "../kernel/event.ts";
import type { MaskedStream } from "./mask-secrets.ts";

/** A delta with a piece of text. */
export type TextDelta = Extract<DeltaBody, { readonly delta: string }>;

export function isTextDelta<Body extends object>(body: Body): body is Body & TextDelta {
  return "delta" in body;
}

/** Masks the deltas of each text as one stream, because a secret may span several deltas. */
export interface DeltaMask<Delta extends TextDelta> {
  /** Returns the delta with the text that is safe so far, or undefined if the whole text is held back. */
  push(delta: Delta): Delta | undefined;
  /** Ends all texts and returns what was held back. */
  end(): readonly Delta[];
}

export function createDeltaMask<Delta extends TextDelta>(newStream: () => MaskedStream): DeltaMask<Delta> {
  const texts = new Map<string, { readonly stream: MaskedStream; last: Delta }>();
  return {
    push(delta) {
      const name = delta.type === "tool_call_delta" ? `${delta.type}/${delta.id}` : delta.type;
      const text = texts.get(name) ?? { stream: newStream(), last: delta };
      texts.set(name, text);
      text.last = delta;
      const safeText = text.stream.push(delta.delta);
      if (safeText === delta.delta) return delta; // also an empty one, which marks the start of a call
      return safeText ? { ...delta, delta: safeText } : undefined;
    },
    end() {
      const ended = [...texts.values()];
      texts.clear();
      return ended.flatMap(({ stream, last }) => {
        const heldText = stream.end();
        return heldText ? [{ ...last, delta: heldText }] : [];
      });
    },
  };
}
