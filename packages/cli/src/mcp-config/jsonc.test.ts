import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseJsonc, setMember } from "./jsonc.ts";

const settings = `// Zed settings
{
  "theme": "One Dark", // mine
  /* servers */
  "context_servers": {
    // the first one
    "notes": { "command": "notes", "args": ["a,]", "// no comment"] }, // keep
  },
  "vim_mode": true,
}
`;
const path = ["context_servers", "capstan"];

describe("JSON with comments", () => {
  it("keeps everything but the member that is added, replaced and removed", () => {
    const added = setMember(settings, path, { command: "node" });
    expect(added).toBe(
      settings.replace("// keep\n", '// keep\n    "capstan": {\n      "command": "node"\n    },\n'),
    );
    const replaced = setMember(added, path, { command: "deno" });
    expect(replaced).toBe(added.replace("node", "deno"));
    expect(setMember(replaced, path, undefined)).toBe(settings);
    expect(setMember(settings, path, undefined)).toBe(settings);
  });

  it.each([
    ["an empty file", "", '{\n  "a": {\n    "b": 1\n  }\n}\n'],
    ["an empty object", "{}", '{\n  "a": {\n    "b": 1\n  }\n}'],
    ["other members", '{"x":1}', '{"x":1,\n  "a": {\n    "b": 1\n  }\n}'],
    ["an empty section", '{\n\t"a": {}\n}', '{\n\t"a": {\n\t\t"b": 1\n\t}\n}'],
    [
      "Windows line ends",
      '{\r\n    "x": 1\r\n}\r\n',
      '{\r\n    "x": 1,\r\n    "a": {\r\n        "b": 1\r\n    }\r\n}\r\n',
    ],
  ])("adds to %s", (_case, before, after) => {
    expect(setMember(before, ["a", "b"], 1)).toBe(after);
  });

  it.each([
    '{"a": {"b": 1,}',
    '{"a" 1}',
    "[1]",
    '{"a": [1]}',
    '{"a": "x',
    "{}}",
    `${"[".repeat(200)}1${"]".repeat(200)}`,
  ])("refuses %j with a position", (text) => {
    expect(() => setMember(text, ["a", "b"], 1)).toThrow(/^line \d+, column \d+$/);
  });

  it("gives the same data as an edit of the parsed object, for any JSON", () => {
    const key = fc.constantFrom("a", "b", "c", '"', "//");
    const section = fc.dictionary(key, fc.jsonValue({ maxDepth: 2 }), { noNullPrototype: true });
    const file = fc.dictionary(fc.constantFrom("s", "t"), section, { noNullPrototype: true });
    fc.assert(
      fc.property(
        file,
        key,
        fc.option(fc.jsonValue({ maxDepth: 1 }), { nil: undefined }),
        fc.constantFrom(0, 2, 4),
        (content, name, value, indent) => {
          const before = JSON.parse(JSON.stringify(content));
          const after = parseJsonc(setMember(JSON.stringify(before, undefined, indent), ["s", name], value));
          const { [name]: _, ...others } = before.s ?? {};
          const expected =
            value === undefined
              ? { ...before, ...(before.s && { s: others }) }
              : { ...before, s: { ...before.s, [name]: value } };
          expect(after).toEqual(JSON.parse(JSON.stringify(expected)));
        },
      ),
    );
  });
});
