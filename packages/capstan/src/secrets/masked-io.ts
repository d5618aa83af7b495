import type { ModelChoice } from "../agent.ts";
import type { Model } from "../model.ts";
import type { Outcome } from "../tool.ts";
import type { Mask } from "./json-text.ts";
import type { Masking } from "./mask.ts";
import { maskedModel } from "./masked-model.ts";

type Blob = { readonly mediaType: string; readonly data: string | Uint8Array };

/** What performing an effect reaches the world with. */
type Reach<Call> = {
  resolveModel(choice: ModelChoice): Model;
  mask?<Body extends object>(body: Body): Body;
  readonly hooks: {
    onAfterTool?(call: Call, outcome: Outcome): Outcome | undefined | Promise<Outcome | undefined>;
  };
  readonly blobs: { put(blob: Blob): Promise<string> };
};

/**
 * The same reach, in which models are told no secret and the outcome of a tool is masked while it is whole: before it
 * is cut to its size, or kept as a blob. Tools and hooks themselves get what they always get.
 */
export function maskedIo<Call, Io extends Reach<Call>>(io: Io, masking: Masking): Io {
  const { resolveModel, hooks, blobs } = io;
  return {
    ...io,
    resolveModel: (choice: ModelChoice) => maskedModel(resolveModel(choice), masking),
    mask: masking.fact,
    hooks: {
      ...hooks,
      async onAfterTool(call: Call, outcome: Outcome): Promise<Outcome> {
        return maskedOutcome((await hooks.onAfterTool?.(call, outcome)) ?? outcome, masking);
      },
    },
    blobs: { ...blobs, put: (blob: Blob) => blobs.put(maskedBlob(blob, masking)) },
  };
}

function maskedOutcome({ binary, ...outcome }: Outcome, masking: Masking): Outcome {
  return { ...masking.fact(outcome), ...(binary && { binary }) };
}

function maskedBlob({ mediaType, data }: Blob, { text }: Masking): Blob {
  return { mediaType, data: typeof data === "string" ? text(data) : maskedBytes(data, text) };
}

const bytesAtOnce = 8192;

/** Bytes are looked at as if each were a character, which finds every secret in ASCII. */
function maskedBytes(bytes: Uint8Array, mask: Mask): Uint8Array {
  let text = "";
  for (let at = 0; at < bytes.length; at += bytesAtOnce)
    text += String.fromCharCode(...bytes.subarray(at, at + bytesAtOnce));
  const shown = mask(text);
  return shown === text ? bytes : Uint8Array.from(shown, (character) => character.charCodeAt(0));
}
