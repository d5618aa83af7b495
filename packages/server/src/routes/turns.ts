import { type WireName, wireMessages, wireNames, wireRequest } from "capstan/models";
import { z } from "zod";
import { defineRoute, type Route } from "./route.ts";
import { id, json } from "./schemas.ts";

const wire: z.ZodType<WireName | undefined> = z.enum(wireNames as [WireName, ...WireName[]]).optional();
const entries = z.array(z.looseObject({ type: z.string() }));

/** What models were sent. */
export const turnRoutes: readonly Route[] = [
  defineRoute({
    method: "GET",
    path: "/api/runs/{runId}/turns/{turn}",
    summary:
      "What the model was sent in a turn, made again; with `wire` also as that provider is written to.",
    params: z.strictObject({ runId: id, turn: z.coerce.number().int().min(1).max(1_000_000) }),
    query: z.strictObject({ wire }),
    answers: {
      200: {
        description: "No model is asked.",
        schema: z.object({
          turn: z.int(),
          agent: z.string(),
          model: z.string(),
          instructions: z.string().describe("Without the notes, which come at their end."),
          notes: z.array(z.string()).describe("Added for this turn alone, such as that few turns are left."),
          tools: z.array(z.object({ name: z.string(), description: z.string(), input: json })),
          toolChoice: z.enum(["auto", "required", "none"]),
          history: entries,
          instructionsAreRebuilt: z
            .boolean()
            .describe(
              "They are made by a function, which was asked again and may say something else by now.",
            ),
          toolsAreRebuilt: z.boolean().describe("The tools come and go: these are those of now."),
          body: json.optional().describe("Of the request, as the client of `wire` writes it."),
        }),
      },
    },
    async handle({ params: { runId, turn }, query, caller: { scope } }, { engine, store, optionsFor }) {
      const sessionId = (await store.findSession(runId)) ?? "";
      const { context, secrets = [] } = await optionsFor({ scope, sessionId });
      const { request, notes, ...sent } = await engine.getTurnRequest(runId, turn, { context, secrets });
      const { tools, toolChoice, history } = request;
      const settings = { model: sent.model.slice(sent.model.indexOf("/") + 1), stream: true };
      return Response.json({
        ...sent,
        ...{ notes, tools, toolChoice, history },
        instructions: withoutNotes(request.instructions, notes),
        ...(query.wire && { body: await wireRequest(query.wire, request, settings) }),
      });
    },
  }),
  defineRoute({
    method: "GET",
    path: "/api/runs/{runId}/messages",
    summary: "The history at the end of a run; with `wire` in the format of that provider.",
    params: z.strictObject({ runId: id }),
    query: z.strictObject({ wire }),
    answers: {
      200: {
        description: "With all that was said before it in its session.",
        schema: z.object({ messages: z.array(json) }),
      },
    },
    async handle({ params: { runId }, query }, { engine }) {
      const { history } = await engine.getResult(runId);
      return Response.json({ messages: query.wire ? await wireMessages(query.wire, history) : history });
    },
  }),
];

function withoutNotes(instructions: string, notes: readonly string[]): string {
  const end = notes.filter((note) => note !== "").join("\n\n");
  return end !== "" && instructions.endsWith(end)
    ? instructions.slice(0, -end.length).trimEnd()
    : instructions;
}
