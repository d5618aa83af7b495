import type { AssistantEntry, Entry, ResultEntry } from "capstan";
import fc from "fast-check";

type AssistantPart = AssistantEntry["parts"][number];
type Call = Extract<AssistantPart, { type: "call" }>;
type Part = Exclude<ResultEntry["content"], string>[number];

/** Parts with data of one provider, which only its own client sends back. Every history has some of each. */
export type OwnParts = readonly AssistantPart[];

const text: fc.Arbitrary<string> = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 30 }),
  fc.constantFrom("Hello", "", " \n", "lone \ud800 surrogate", "<|im_start|>system", 'say "now" `then`'),
);

const pixel = "iVBORw0KGgo=";
const mediaTypes = [
  ...["image/png", "image/jpeg", "image/webp", "image/tiff", "application/pdf", "text/csv"],
  ...["application/zip", "audio/wav", "audio/mpeg", "video/mp4"],
];
/** Bytes, an address or a file at a provider; a part may have several of them. */
const media: fc.Arbitrary<Part> = fc
  .record(
    {
      mediaType: fc.constantFrom(...mediaTypes),
      data: fc.constantFrom(pixel, "JVBERi0xLjQ=", "YSxiCjEsMg=="),
      url: fc.constantFrom("https://example.com/a", `data:image/png;base64,${pixel}`, "gs://bucket/a"),
      file: fc.record({
        provider: fc.constantFrom("anthropic", "openai", "gemini", "vertex"),
        id: fc.constantFrom("file_011CNha8iCJcU1wXNR6q4V8w", "https://example.com/v1beta/files/abc"),
      }),
    },
    { requiredKeys: ["mediaType"] },
  )
  .map((fields): Part => ({ type: fields.mediaType.startsWith("image/") ? "image" : "file", ...fields }));

const content: fc.Arbitrary<string | readonly Part[]> = fc.oneof(
  text,
  fc.array(
    fc.oneof(
      text.map((value): Part => ({ type: "text", text: value })),
      media,
    ),
    { maxLength: 3 },
  ),
);

const json = fc.jsonValue({ maxDepth: 2 }).filter((value) => !JSON.stringify(value).includes("__proto__"));

const callNames = ["search", "look up", "größe.messen", "n".repeat(90), "mcp__files__read"] as const;

type CallSeed = Omit<Call, "id" | "type"> & { readonly result: Pick<ResultEntry, "status" | "content"> };

const call: fc.Arbitrary<CallSeed> = fc.record(
  {
    name: fc.constantFrom(...callNames),
    input: fc.dictionary(fc.constantFrom("q", "n", "list"), json, { maxKeys: 3, noNullPrototype: true }),
    raw: fc.constant('{"q": "cut'),
    providerId: fc.constantFrom("toolu_01", "call_1", "fc_é|1", "i".repeat(100)),
    result: fc.record({
      status: fc.constantFrom("ok", "error", "denied", "skipped", "interrupted"),
      content,
    }),
  },
  { requiredKeys: ["name", "input", "result"] },
) as fc.Arbitrary<CallSeed>;

type Step = { readonly parts: readonly AssistantPart[]; readonly calls: readonly CallSeed[] };

function createHistoryStep(own: OwnParts): fc.Arbitrary<Step> {
  const said: fc.Arbitrary<AssistantPart> = fc.oneof(
    text.map((value): AssistantPart => ({ type: "text", text: value })),
    text.map((value): AssistantPart => ({ type: "reasoning", text: value })),
    fc.constantFrom(...own),
  );
  return fc.record({
    parts: fc.array(said, { maxLength: 4 }),
    calls: fc.array(call, { maxLength: 3 }),
  });
}

type Turn = { readonly start: Entry; readonly steps: readonly Step[] };

/** Builds histories as the runtime does: every call has its result, in call order, and ids are unique. */
export function createRandomHistory(own: OwnParts): fc.Arbitrary<readonly Entry[]> {
  const start: fc.Arbitrary<Entry> = fc.oneof(
    { arbitrary: content.map((value): Entry => ({ type: "user", content: value })), weight: 4 },
    text.map((value): Entry => ({ type: "summary", text: value })),
  );
  const turn: fc.Arbitrary<Turn> = fc.record({
    start,
    steps: fc.array(createHistoryStep(own), { maxLength: 3 }),
  });
  return fc.array(turn, { minLength: 1, maxLength: 3 }).map(joinTurns);
}

function joinTurns(turns: readonly Turn[]): Entry[] {
  let count = 0;
  return turns.flatMap(({ start, steps }) => [
    start,
    ...steps.flatMap(({ parts, calls }): Entry[] => {
      const numbered = calls.map((seed) => ({ ...seed, id: `call_${++count}` }));
      const made = numbered.map(({ result: _result, ...seed }): Call => ({ type: "call", ...seed }));
      const results = numbered.map(
        ({ id, name, result }): Entry => ({ type: "result", callId: id, name, ...result }),
      );
      return parts.length + made.length === 0
        ? []
        : [{ type: "assistant", parts: [...parts, ...made] }, ...results];
    }),
  ]);
}
