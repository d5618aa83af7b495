import { describe, expect, it } from "vitest";
import { isSupported } from "./grounding.ts";

const passages = [
  "Travel policy: a hotel in Oslo may cost up to 1,800 kroner per night. Breakfast is included.",
  "Zod is a TypeScript-first schema validation library with static type inference.",
  "The gate asks for approval before a call with an effect.",
];
const fragments = new Map(
  passages.map((content, index) => [
    `p${index + 1}`,
    { id: `p${index + 1}`, n: index + 1, content, source: { title: `Page ${index + 1}` } },
  ]),
);

function check(text: string): boolean {
  const numbers = new Set([...text.matchAll(/\[(\d)/g)].map(([, n]) => Number(n)));
  const citations = [...numbers].map((n) => ({ n, id: `p${n}`, title: `Page ${n}` }));
  return isSupported({ text, citations, fragments });
}

describe("an answer is supported by its citations", () => {
  it.each([
    "A hotel in Oslo may cost 1,800 kroner [1].",
    "Hotels in Oslo cost up to 1800 kroner a night. [1]",
    "Zod validates data with schemas and infers static types [2]. Let me know if you need more!",
    "Two rules apply:\n- Hotels in Oslo: 1.800 kroner at most [1]\n- Schemas are validated with Zod [2]",
    "The hotel includes breakfast [1], and Zod is a validation library [2].",
    "Does a hotel in Oslo include breakfast? Yes [1].",
    "- A hotel in Oslo may cost 1,800 kroner. Breakfast too. [1]\n- Zod is a schema library. Typed! [2]",
    "According to [1]:\n- A hotel in Oslo may cost 1,800 kroner",
    "1. Oslo hotels include breakfast [1]\n12. Zod is a schema library [2]",
  ])("in %j (S3-37, K7)", (text) => {
    expect(check(text)).toBe(true);
  });

  it.each([
    ["without a citation", "A hotel in Oslo may cost 1,800 kroner."],
    ["of a passage about something else", "A hotel in Oslo may cost 1,800 kroner [3]."],
    ["of two passages, one about something else", "A hotel in Oslo may cost 1,800 kroner [1][2]."],
    ["with another number", "A hotel in Oslo may cost 2,800 kroner [1]."],
    ["that shares one word", "Oslo has seven museums, twelve parks and many famous old theatres [1]."],
    ["in one of several sentences", "Zod is a schema library [2]. The weather will be sunny tomorrow [3]."],
    ["in one word", "Sunny [1]."],
  ])("not %s", (_case, text) => {
    expect(check(text)).toBe(false);
  });

  it("and code in it is no claim", () => {
    expect(check("Zod is a schema library [2].\n\n```ts\nconst first = entries[1];\n```")).toBe(true);
  });

  it("unless a provider found the source, whose text is not known here", () => {
    const citations = [{ n: 9, id: "web", title: "Web" }];
    expect(isSupported({ text: "It rains [9].", citations, fragments })).toBe(true);
  });
});
