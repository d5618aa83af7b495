// The offline model lives in its own package, `@capstan/offline`, which is an optional peer dependency: it is imported
// when it is first used, so that programs with a real model do not have to install it.
import { AgentError } from "../base/errors.ts";
import type { Model } from "../kernel/model.ts";

export type OfflineOptions = {
  /** Default: `offline/rules`. */
  readonly id?: string;
};

/**
 * The offline model: rules, not AI. It calls the tool whose examples or words match the request and answers from the
 * results. The first request rejects with `model_not_found` unless `@capstan/offline` is installed.
 */
export function offline(options: OfflineOptions = {}): Model {
  let model: Model | undefined;
  return {
    id: options.id ?? "offline/rules",
    async *stream(request, context) {
      model ??= await loadOffline(options);
      yield* model.stream(request, context);
    },
  };
}

/** Imports `@capstan/offline`. Rejects with `model_not_found` when it is not installed. */
export async function loadOffline(options: OfflineOptions = {}): Promise<Model> {
  const module = await import("@capstan/offline").catch((cause: unknown) => {
    const message =
      "The offline model is not installed. Run `npm install @capstan/offline`, or set the key of a model provider.";
    throw new AgentError("model_not_found", message, { cause });
  });
  return module.offline(options);
}
