import type { ModelChoice } from "../kernel/agent.ts";
import type { Model } from "../kernel/model.ts";
import type { Outcome } from "../kernel/tool.ts";
import type { MaskText } from "../secrets/json-text.ts";
import type { SecretMask } from "../secrets/mask.ts";
import { maskError } from "../secrets/mask-error.ts";
import { withMaskedModel } from "../secrets/masked-model.ts";

type Blob = { readonly mediaType: string; readonly data: string | Uint8Array };

/** The I/O used to perform an effect. */
type EffectIo<Call> = {
  resolveModel(choice: ModelChoice): Model;
  mask?<Body extends object>(body: Body): Body;
  maskError?(thrown: unknown): unknown;
  readonly hooks: {
    onAfterTool?(call: Call, outcome: Outcome): Outcome | undefined | Promise<Outcome | undefined>;
  };
  readonly blobs: { put(blob: Blob): Promise<string> };
};

/**
 * Wraps the I/O so that models receive no secrets and tool outcomes are masked while they are complete: before they are
 * truncated or stored as a blob. Tools and hooks receive unmasked values.
 */
export function withMaskedIo<Call, Io extends EffectIo<Call>>(io: Io, secretMask: SecretMask): Io {
  const { resolveModel, hooks, blobs } = io;
  return {
    ...io,
    resolveModel: (choice: ModelChoice) => withMaskedModel(resolveModel(choice), secretMask),
    mask: secretMask.fact,
    maskError: (thrown: unknown) => maskError(thrown, secretMask),
    hooks: {
      ...hooks,
      async onAfterTool(call: Call, outcome: Outcome): Promise<Outcome> {
        return maskOutcome((await hooks.onAfterTool?.(call, outcome)) ?? outcome, secretMask);
      },
    },
    blobs: { ...blobs, put: (blob: Blob) => blobs.put(maskBlob(blob, secretMask)) },
  };
}

function maskOutcome({ binary, ...outcome }: Outcome, secretMask: SecretMask): Outcome {
  return { ...secretMask.fact(outcome), ...(binary && { binary }) };
}

function maskBlob({ mediaType, data }: Blob, { text }: SecretMask): Blob {
  return { mediaType, data: typeof data === "string" ? text(data) : maskBytes(data, text) };
}

const chunkSize = 8192;

/** Treats each byte as a character, which finds every ASCII secret. */
function maskBytes(bytes: Uint8Array, mask: MaskText): Uint8Array {
  let text = "";
  for (let offset = 0; offset < bytes.length; offset += chunkSize)
    text += String.fromCharCode(...bytes.subarray(offset, offset + chunkSize));
  const masked = mask(text);
  return masked === text ? bytes : Uint8Array.from(masked, (character) => character.charCodeAt(0));
}
