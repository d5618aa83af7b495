import { type WireName, wireMessages, wireNames, wireRequest } from "capstan/models";
import { z } from "zod";
import { defineRoute, type Route } from "./route.ts";
import { id, json } from "./schemas.ts";
import { settings } from "./settings-schema.ts";

const wire: z.ZodType<WireName | undefined> = z.enum(wireNames as [WireName, ...WireName[]]).optional();
const entries = z.array(z.looseObject({ type: z.string() }));

export const turnRoutes: readonly Route[] = [
  defineRoute({
    method: "GET",
    path: "/api/runs/{runId}/turns/{turn}",
    summary: "Rebuild the model request of a turn; with `wire`, also the provider's request body.",
    params: z.strictObject({ runId: id, turn: z.coerce.number().int().min(1).max(1_000_000) }),
    query: z.strictObject({ wire }),
    responses: {
      200: {
        description: "The model is not called.",
        schema: z.object({
          turn: z.int(),
          agent: z.string(),
          model: z.string(),
          instructions: z
            .string()
            .describe("Without `notes`, which are appended to them. Empty without an admin key."),
          notes: z
            .array(z.string())
            .describe("Added for this turn only, such as the number of remaining turns."),
          tools: z.array(z.object({ name: z.string(), description: z.string(), input: json })),
          discovered: z.array(z.string()).describe("The tools that the model had found with a search."),
          deferred: z.int().describe("How many more tools it could search for."),
          toolChoice: z.union([z.enum(["auto", "required", "none"]), z.object({ tool: z.string() })]),
          settings: settings
            .optional()
            .describe("Of the agent and the run; those of the model's client are not included."),
          history: entries,
          instructionsAreRebuilt: z
            .boolean()
            .describe("A function computes them; it was called again and may return something else."),
          toolsAreRebuilt: z.boolean().describe("The agent has dynamic tools; these are the current ones."),
          body: json
            .optional()
            .describe(
              "The request body in the format of `wire`, without the instructions if they are empty.",
            ),
        }),
      },
    },
    async handle({ params: { runId, turn }, query, caller: { scope } }, { engine, store, getRunOptions }) {
      const sessionId = (await store.findSession(runId)) ?? "";
      const { context, secrets = [] } = await getRunOptions({ scope, sessionId });
      const { request, notes, ...sent } = await engine.getTurnRequest(runId, turn, { context, secrets });
      const { tools, toolChoice, history, settings: asked } = request;
      const client = { model: sent.model.slice(sent.model.indexOf("/") + 1), stream: true };
      return Response.json({
        ...sent,
        ...{ notes, tools, toolChoice, history, settings: asked },
        instructions: withoutNotes(request.instructions, notes),
        ...(query.wire && { body: await wireRequest(query.wire, request, client) }),
      });
    },
  }),
  defineRoute({
    method: "GET",
    path: "/api/runs/{runId}/messages",
    summary: "The history at the end of a run; with `wire`, in that provider's format.",
    params: z.strictObject({ runId: id }),
    query: z.strictObject({ wire }),
    responses: {
      200: {
        description: "Includes the preceding history of the session.",
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
