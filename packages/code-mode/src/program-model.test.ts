import type { AssistantPart, Chunk, Entry, Model } from "capstan";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { defaultLimits } from "./code-mode.ts";
import { createProgramModel } from "./program-model.ts";
import { openSandbox } from "./sandbox/open-sandbox.ts";
import type { ProgramLimits } from "./sandbox/protocol.ts";

/** Creates the model of a program, and counts the processes that it starts. */
function createCountingModel(code: string): { readonly model: Model; countProcesses(): number } {
  let count = 0;
  const open = (limits: ProgramLimits) => {
    count += 1;
    return openSandbox(limits);
  };
  const model = createProgramModel({ code, tools: ["get"], limits: defaultLimits, open });
  return { model, countProcesses: () => count };
}

async function requestTurn(model: Model, history: readonly Entry[]): Promise<readonly Chunk[]> {
  const chunks: Chunk[] = [];
  const request = { instructions: "", history, tools: [], toolChoice: "auto", thinking: false } as const;
  for await (const batch of model.stream(request, { signal: new AbortController().signal }))
    chunks.push(...batch);
  return chunks;
}

/** The message that the runtime makes of a turn, and the results of its calls: each returns its own arguments. */
function toEntries(chunks: readonly Chunk[], turn: number): readonly Entry[] {
  const texts = chunks.flatMap((chunk) => (chunk.type === "call_delta" ? [chunk.text] : []));
  const parts = chunks.flatMap((chunk): AssistantPart[] => {
    if (chunk.type === "opaque") return [{ type: "opaque", data: chunk.data }];
    if (chunk.type !== "call_start") return [];
    const input = JSON.parse(texts[chunk.index] ?? "");
    return [{ type: "call", id: `${turn}.${chunk.index}`, name: chunk.name, input }];
  });
  const results = parts.flatMap((part): Entry[] =>
    part.type === "call"
      ? [{ type: "result", callId: part.id, name: part.name, status: "ok", content: "", data: part.input }]
      : [],
  );
  return [{ type: "assistant", parts }, ...results];
}

/** Plays all turns of a program with one model. Returns the chunks of each turn, and the history before it. */
async function play(
  model: Model,
): Promise<readonly { readonly history: readonly Entry[]; readonly chunks: readonly Chunk[] }[]> {
  const turns: { readonly history: readonly Entry[]; readonly chunks: readonly Chunk[] }[] = [];
  let history: readonly Entry[] = [];
  for (let turn = 1; turn <= 100; turn++) {
    const chunks = await requestTurn(model, history);
    turns.push({ history, chunks });
    if (chunks.some((chunk) => chunk.type === "finish" && chunk.reason === "end")) break;
    history = [...history, ...toEntries(chunks, turn)];
  }
  return turns;
}

describe("the model of a program", () => {
  it("executes 40 calls one after the other in one process", async () => {
    const code = "let sum = 0; for (let n = 0; n < 40; n++) sum += (await tools.get({ n })).n; return sum";
    const { model, countProcesses } = createCountingModel(code);
    const turns = await play(model);
    expect(turns).toHaveLength(41);
    expect(turns.at(-1)?.chunks[0]).toEqual({ type: "text", text: "780" });
    expect(countProcesses()).toBe(1);
  });

  it("gives the same answer in a process that has only the history, for any program and any turn (S0-20)", async () => {
    // At most 200 calls, the limit of a program.
    const batches = fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(batches, fc.nat(), async (sizes, choice) => {
        const code = `const all = [];
          for (const size of ${JSON.stringify(sizes)}) {
            const inputs = Array.from({ length: size }, () => ({ at: Date.now(), value: Math.random() }));
            all.push(...(await Promise.all(inputs.map((input) => tools.get(input)))));
          }
          return all.map(({ value }) => value);`;
        const turns = await play(createCountingModel(code).model);
        // The first turn has no history yet, so its date is a new one.
        const turn = turns[1 + (choice % (turns.length - 1))];
        const fresh = await requestTurn(createCountingModel(code).model, turn?.history ?? []);
        expect(fresh).toEqual(turn?.chunks);
      }),
      { numRuns: process.env.CAPSTAN_LONG === "1" ? 50 : 2 },
    );
  });

  it("refuses to continue a program whose calls are not those of the log", async () => {
    const history = toEntries(
      [
        { type: "call_start", index: 0, name: "put" },
        { type: "call_delta", index: 0, text: "{}" },
      ],
      1,
    );
    const { model } = createCountingModel("await tools.get()");
    await expect(requestTurn(model, history)).rejects.toMatchObject({
      code: "program_failed",
      message: expect.stringContaining('Its call 1 was "put" and is now "get"'),
    });
  });

  it("ends its process when it is aborted", async () => {
    const { model } = createCountingModel("for (;;);");
    const controller = new AbortController();
    const request = {
      instructions: "",
      history: [],
      tools: [],
      toolChoice: "auto",
      thinking: false,
    } as const;
    const turn = model.stream(request, { signal: controller.signal })[Symbol.asyncIterator]().next();
    controller.abort(new Error("enough"));
    await expect(turn).rejects.toThrow();
  });
});
