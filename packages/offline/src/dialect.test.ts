import { defineAgent, defineTool, type Model, run, standardInstructions } from "capstan";
import { textDialect } from "capstan/models/text-dialect";
import { memory } from "capstan/stores/memory";
import { describe, expect, it } from "vitest";
import { offline } from "./offline.ts";

const boats = [
  { id: "b1", name: "Heron", colour: "blue" },
  { id: "b2", name: "Tern", colour: "red" },
];
const find = defineTool({
  name: "findBoats",
  description: "Finds boats.\nBy colour, one line or more.",
  input: { type: "object", properties: { colour: { type: "string", enum: ["blue", "red", "green"] } } },
  examples: [{ phrase: "find all {colour} boats" }],
  effects: "none",
  execute: ({ colour }) => ({
    message: `Boats that are ${colour}:`,
    data: { boats: boats.filter((boat) => boat.colour === colour) },
  }),
});
const moor = defineTool({
  name: "moorBoats",
  description: "Moors boats.",
  input: {
    type: "object",
    properties: { boatIds: { type: "array", items: { type: "string" } }, berth: { type: "string" } },
    required: ["boatIds", "berth"],
  },
  examples: [{ phrase: "moor them at {berth}" }],
  needsApproval: () => true,
  execute: ({ boatIds, berth }) => ({ message: `Moored ${boatIds.length} at ${berth}.` }),
});
const read = defineTool({
  name: "readLog",
  description: "Reads the log of a day.",
  input: { type: "object", properties: { day: { type: "string" } }, required: ["day"] },
  examples: [{ phrase: "log of {day}" }],
  effects: "none",
  execute({ day }) {
    if (day !== "Monday") throw new Error(`There is no log of "${day}". Did you mean "Monday"?`);
    return {
      data: { passages: [{ title: "Monday" }] },
      contexts: [{ id: "m", content: "Calm sea all day.", source: { title: "Monday" } }],
    };
  },
});

async function talk(model: Model, ...sentences: string[]) {
  const agent = defineAgent({
    name: "harbour",
    model,
    instructions: standardInstructions("You know the boats."),
    tools: [find, moor, read],
  });
  const options = { store: memory(), session: "s", policy: { retry: { maxAttempts: 1 } } };
  const heard: unknown[] = [];
  for (const sentence of sentences) {
    const running = run(agent, sentence, options);
    let result = await running;
    while (result.status === "waiting") {
      for (const { callId } of result.pending)
        if (sentence.includes("Jetty")) running.deny(callId);
        else running.approve(callId);
      result = await running;
    }
    const calls = result.toolCalls.map(({ name, input, status }) => ({ name, input, status }));
    heard.push({ status: result.status, calls, text: result.text });
  }
  return heard;
}

describe("the offline model in the text dialect", () => {
  it.each([
    [["hello", "what can you do?", "How is the weather?"]],
    [["find all blue boats", "what about the red ones?"]],
    [["find all blue boats and moor them at Berth 3"]],
    [["find all red boats and moor them at the Jetty"]],
    [["find all green boats and moor them at Berth 3"]],
    [["moor them at Berth 3", "find all blue boats", "moor them at Berth 3"]],
    [["log of Monday"]],
    [["log of Mondy"]],
    [["log of Friday"]],
  ])("makes the same calls and returns the same answers as with native tools: %s", async (sentences) => {
    const native = await talk(offline(), ...sentences);
    expect(await talk(textDialect(offline()), ...sentences)).toEqual(native);
    expect(await talk(textDialect(offline(), { history: "section" }), ...sentences)).toEqual(native);
  });

  it("denied calls are reported as not done, in both dialects", async () => {
    const [heard] = await talk(textDialect(offline()), "find all red boats and moor them at the Jetty");
    expect(heard).toMatchObject({
      calls: [{ name: "findBoats" }, { name: "moorBoats", status: "denied" }],
      text: expect.stringContaining("That was not done. The call was denied: the user declined."),
    });
  });

  it("writes reasoning in brackets and calls as lines, for a model without tools", async () => {
    const said: string[] = [];
    const overheard: Model = {
      id: "overheard",
      async *stream(request, options) {
        for await (const chunks of offline().stream(request, options)) {
          for (const chunk of chunks) if (chunk.type === "text") said.push(chunk.text);
          yield chunks;
        }
      },
    };
    await talk(textDialect(overheard), "find all blue boats");
    expect(said.join("")).toMatch(
      /^\[Thinking: The request matches .*\]\n\nTOOL_CALL: findBoats\nARGUMENTS: \{"colour":"blue"\}\[Thinking: /,
    );
  });
});
