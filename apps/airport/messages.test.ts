import { createServer, type ListeningServer, listen } from "@capstan/server";
import { createClient, type ViewEvent } from "capstan/client";
import { type ScriptedStep, scriptedModel } from "capstan/testing";
import { afterEach, describe, expect, it } from "vitest";
import { airport } from "./agent.ts";
import { messages } from "./messages.ts";

let listening: ListeningServer;
afterEach(() => listening.close(0));

/** Serves the airport with a scripted model, asks, and reads the messages of the run. */
async function ask(input: string, steps: ScriptedStep[]) {
  const agent = await airport({ model: scriptedModel(steps) });
  listening = await listen(createServer({ agents: [agent], eventViews: { messages } }), { port: 0 });
  const client = createClient({ baseURL: listening.url });
  const { runId } = await client.runs.start({ input });
  async function read(after?: string): Promise<ViewEvent[]> {
    const events: ViewEvent[] = [];
    const options = after === undefined ? {} : { after };
    for await (const event of client.runs.viewEvents(runId, "messages", options)) events.push(event);
    return events;
  }
  return { read, events: await read() };
}

const omitId = ({ event, data }: ViewEvent) => ({ event, data });

describe("GET /api/runs/{runId}/events?events=messages", () => {
  const twoCalls: ScriptedStep[] = [
    {
      text: "Let me look.",
      calls: [
        { id: "c1", name: "getPOIDetails", input: { poiId: 1_000_000 } },
        { id: "c2", name: "getCategories", input: {} },
      ],
    },
    { text: "Nothing there." },
  ];

  it("lists input, calls, results in call order, and answer; text sent with calls is not an answer (S0-09, S0-13, S0-14, S0-16)", async () => {
    const { events } = await ask("Two things?", twoCalls);
    expect(events.map(omitId)).toEqual([
      { event: "user_input", data: { role: "user", type: "user_input", content: "Two things?" } },
      {
        event: "tool_calls",
        data: {
          role: "assistant",
          type: "tool_calls",
          content: [
            { name: "getPOIDetails", args: { poiId: 1_000_000 } },
            { name: "getCategories", args: {} },
          ],
        },
      },
      {
        event: "tool_results",
        data: {
          role: "user",
          type: "tool_results",
          content: [
            { name: "getPOIDetails", result: null, error: expect.stringContaining("1000000") },
            { name: "getCategories", result: expect.objectContaining({ categories: expect.anything() }) },
          ],
        },
      },
      {
        event: "assistant_response",
        data: { role: "assistant", type: "assistant_response", content: "Nothing there." },
      },
    ]);
  });

  it("continues in the middle", async () => {
    const { events, read } = await ask("Two things?", twoCalls);
    expect(await read(events[1]?.id)).toEqual(events.slice(2));
  });

  it("ends at the limit with the question to the user (S0-08, S0-15)", async () => {
    const steps = Array.from({ length: 12 }, (_, n) => ({
      calls: [{ name: "search", input: { term: `Gate ${n}` } }],
    }));
    const { events } = await ask("Where is it?", steps);
    expect(events.map(({ event }) => event).slice(-2)).toEqual(["tool_results", "assistant_response"]);
    expect(events.at(-1)?.data).toMatchObject({ content: expect.stringContaining("limit") });
  });
});
