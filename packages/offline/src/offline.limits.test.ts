import type { Entry, ModelRequest, ToolSpec } from "capstan";
import { describe, expect, it } from "vitest";
import { offline } from "./offline.ts";

/** The value as it is, with every look at one of its properties counted. */
function counted<Value extends object>(value: Value, count: (property: string) => void): Value {
  return new Proxy(value, {
    get(target, property) {
      if (typeof property === "string") count(property);
      return Reflect.get(target, property);
    },
  });
}

const toolNames = Array.from({ length: 60 }, (_, at) => `${["find", "show", "list"][at % 3]}Item${at}`);

function tools(count: (property: string) => void): ToolSpec[] {
  return toolNames.map((name) =>
    counted<ToolSpec>(
      {
        name,
        description: `Does ${name} with things of the kind ${name}, in a few words.`,
        input: {
          type: "object",
          properties: { query: { type: "string" }, itemId: { type: "string" } },
          required: ["query"],
          examples: [{ phrase: `${name} {query}` }, { phrase: `${name} about {query} of {itemId}` }],
        },
      },
      count,
    ),
  );
}

function longHistory(turns: number, count: (property: string) => void): Entry[] {
  const turn = (at: number): Entry[] => [
    { type: "user", content: `findItem0 thing ${at}` },
    {
      type: "assistant",
      parts: [{ type: "call", id: `c${at}`, name: "findItem0", input: { query: `thing ${at}` } }],
    },
    {
      type: "result",
      callId: `c${at}`,
      name: "findItem0",
      status: "ok",
      content: `{"items":[{"id":"i${at}"}]}`,
    },
    { type: "assistant", parts: [{ type: "text", text: `Thing ${at}.` }] },
  ];
  const entries = Array.from({ length: turns }, (_, at) => turn(at)).flat();
  return entries.map((entry) => counted(entry, count));
}

async function reply(request: ModelRequest): Promise<string> {
  let said = "";
  for await (const chunks of offline().stream(request, { signal: new AbortController().signal }))
    for (const chunk of chunks) if (chunk.type === "call_start") said += chunk.name;
  return said;
}

describe("the work for one reply", () => {
  it("tokenizes each of 60 tools once, regardless of the number of sentences tried", async () => {
    let descriptions = 0;
    const offered = tools((property) => {
      if (property === "description") descriptions++;
    });
    const history: Entry[] = [
      { type: "user", content: "showItem7 green boats" },
      { type: "assistant", parts: [{ type: "text", text: "Green boats." }] },
      { type: "user", content: "what about the red ones that were there yesterday?" },
    ];
    const request = {
      instructions: "",
      history,
      tools: offered,
      toolChoice: "auto",
      thinking: false,
    } as const;
    expect(await reply(request)).toBe("showItem7");
    const most = 60 * 3;
    expect(descriptions).toBeLessThanOrEqual(most);
    descriptions = 0;
    await reply(request);
    expect(descriptions).toBeLessThanOrEqual(most);
  });

  it("inspects the results at the end of a history only", async () => {
    const work = async (turns: number) => {
      let contents = 0;
      const history = longHistory(turns, (property) => {
        if (property === "content") contents++;
      });
      const request = {
        ...{ instructions: "", tools: tools(() => undefined), toolChoice: "auto", thinking: false },
        history: [...history, { type: "user", content: "showItem7 it" }],
      } as const satisfies ModelRequest;
      await reply(request);
      const first = contents;
      contents = 0;
      await reply(request);
      return { first, again: contents };
    };
    const long = await work(500);
    const longer = await work(1000);
    // Every entry is measured once, for the tokens; after that only the last ones are read.
    expect(longer.first - long.first).toBe(2 * 500);
    expect(longer.again).toBe(long.again);
  });
});
