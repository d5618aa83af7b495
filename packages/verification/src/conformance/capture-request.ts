import type { Model, ModelRequest } from "capstan";

/** A request as a client sent it. */
export type CapturedRequest = {
  readonly url: string;
  readonly headers: { readonly [name: string]: string };
  readonly body: { readonly [field: string]: unknown };
};

/**
 * Sends a request through a client and returns it as it would have left the process. Settings and hosted tools that the
 * model refuses are left out: the runtime does not send them either.
 */
export async function captureRequest(
  createModel: (fetch: typeof globalThis.fetch) => Model,
  request: ModelRequest,
): Promise<CapturedRequest> {
  let captured: CapturedRequest | undefined;
  const model = createModel(async (input, init) => {
    captured = {
      url: String(input),
      headers: Object.fromEntries(new Headers(init?.headers)),
      body: JSON.parse(String(init?.body)),
    };
    throw new TypeError("The request was captured.");
  });
  const signal = new AbortController().signal;
  try {
    for await (const _batch of model.stream(omitRefused(model, request), { signal }));
  } catch (thrown) {
    if (!captured) throw thrown;
  }
  if (!captured) throw new Error(`${model.id} sent no request.`);
  return captured;
}

function omitRefused(model: Model, { settings, toolChoice, hosted, ...rest }: ModelRequest): ModelRequest {
  const problems = model.checkSettings?.({ ...settings, toolChoice }) ?? [];
  const refused = new Set<string>(problems.flatMap(({ field, isError }) => (isError ? field : [])));
  const kept = Object.entries(settings ?? {}).filter(([name]) => !refused.has(name));
  const hasFunctions = rest.tools.length > 0;
  const offered = hosted?.filter((tool) => !model.checkHosted?.({ hosted: [tool], hasFunctions }).length);
  return {
    ...rest,
    toolChoice: refused.has("toolChoice") ? "auto" : toolChoice,
    ...(settings && { settings: Object.fromEntries(kept) }),
    ...(offered && offered.length > 0 && { hosted: offered }),
  };
}
