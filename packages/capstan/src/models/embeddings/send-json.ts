import type { Json } from "../../base/json.ts";
import type { Usage } from "../../kernel/model.ts";
import { createHttpModel, type HttpModelOptions } from "../http-model.ts";

export type JsonRequest = { readonly url: string; readonly body: Json; readonly signal: AbortSignal };

/**
 * Sends one POST and returns the JSON of the response. It is a request of the client like any other: with its
 * credentials, timeouts and circuit breaker, and the same errors.
 */
export async function sendJson(
  client: HttpModelOptions,
  { url, body, signal }: JsonRequest,
): Promise<unknown> {
  let answer: unknown;
  const { stream } = createHttpModel({
    ...client,
    ...{ stream: false, price: undefined, url: () => url },
    wire: {
      ...client.wire,
      toRequest: () => JSON.stringify(body),
      fromJson(json) {
        answer = json;
        return [{ type: "finish", reason: "end" }];
      },
    },
  });
  for await (const _ of stream(noRequest, { signal }));
  return answer;
}

/** The wire has the body already. */
const noRequest = { instructions: "", history: [], tools: [], toolChoice: "none", thinking: false } as const;

/** Returns the usage of input tokens alone, with its cost. */
export async function priceInput(
  { price }: HttpModelOptions,
  usage: Omit<Usage, "outputTokens">,
): Promise<Usage> {
  const used = { ...usage, outputTokens: 0 };
  return price && usage.inputTokens > 0 ? price(used) : used;
}
