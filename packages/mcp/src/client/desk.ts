import { pathToFileURL } from "node:url";
import { type Client, type CreateMessageRequestParams, isSpecType } from "@modelcontextprotocol/client";
import { AgentError, type Answer, type Json, type Question } from "capstan";
import { elicitation, elicitResult } from "./questions.ts";
import { defaultSampling, type Sampling, sample, samplingQuestion } from "./sampling.ts";

/** Something that a server asks of us, whatever way its revision sends it. */
export type ServerRequest = { readonly method: string; readonly params?: unknown };

/** Answered at once, or by a person. */
export type Reply =
  | { readonly result: Promise<Json> }
  | { readonly question: Question; answer(answer: Answer): Promise<Json> };

export type DeskOptions = {
  readonly server: string;
  /** Folders that the server may know of. */
  readonly roots: readonly string[];
  readonly sampling: Sampling | undefined;
  log(line: string): void;
};

/** Where one server's requests to us are decided on. */
export interface Desk {
  reply(request: ServerRequest, signal: AbortSignal): Reply;
}

export function desk({ server, roots, sampling, log }: DeskOptions): Desk {
  let sampled = 0;

  function sampleFor(params: CreateMessageRequestParams, signal: AbortSignal): Reply {
    if (!sampling) return refusal("It wanted to use your model, which is not allowed (`sampling`).");
    const most = sampling.maxRequests ?? defaultSampling.maxRequests;
    const spent = () => refusal(`It has used your model ${most} times, which is the limit.`);
    if (sampled >= most) return spent();
    const answer = async () => {
      if (sampled >= most) return spent().result; // other questions were open at the same time
      sampled += 1;
      log(`It uses the model ${sampling.model.id}, for the ${sampled}. time.`);
      return (await sample(sampling, params, signal)) as Json;
    };
    if (!(sampling.ask ?? defaultSampling.ask)) return { result: answer() };
    return {
      question: samplingQuestion(server, params),
      answer: async ({ approved }) => (approved ? answer() : refusal("You declined.").result),
    };
  }

  function refusal(why: string): { readonly result: Promise<never> } {
    log(why);
    const result = Promise.reject(new AgentError("tool_denied", why));
    result.catch(() => undefined);
    return { result };
  }

  return {
    reply({ method, params }, signal) {
      if (method === "roots/list")
        return {
          result: Promise.resolve({ roots: roots.map((folder) => ({ uri: pathToFileURL(folder).href })) }),
        };
      // What comes with the result of a call, as in 2026, nobody has looked at before.
      if (method === "sampling/createMessage" && isSpecType.CreateMessageRequestParams(params))
        return sampleFor(params, signal);
      if (method !== "elicitation/create" || !isSpecType.ElicitRequestParams(params))
        return refusal(`It asked for "${method}", which is not known in that form.`);
      const wanted = elicitation(server, params);
      if ("question" in wanted)
        return {
          question: wanted.question,
          answer: async (answer) => elicitResult(answer, params) as Json,
        };
      log(wanted.refused);
      return { result: Promise.resolve({ action: "decline" }) };
    },
  };
}

/** Says what we can be asked for, and has it answered by `hear`. */
export function listenToServer(
  client: Client,
  { sampling, roots }: Pick<DeskOptions, "sampling" | "roots">,
  hear: (request: ServerRequest, signal: AbortSignal) => Promise<Json>,
): void {
  client.registerCapabilities({
    elicitation: { form: {}, url: {} },
    ...(sampling && { sampling: {} }),
    ...(roots.length > 0 && { roots: {} }),
  });
  client.setRequestHandler(
    "elicitation/create",
    async (request, { mcpReq }) => (await hear(request, mcpReq.signal)) as never,
  );
  if (sampling)
    client.setRequestHandler(
      "sampling/createMessage",
      async (request, { mcpReq }) => (await hear(request, mcpReq.signal)) as never,
    );
  if (roots.length > 0)
    client.setRequestHandler(
      "roots/list",
      async (request, { mcpReq }) => (await hear(request, mcpReq.signal)) as never,
    );
}
