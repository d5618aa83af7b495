import { array, assert, constantFrom, dictionary, property, string } from "fast-check";
import { describe, expect, it } from "vitest";
import { expandVariables, type Variables } from "./expand-variables.ts";

const fail = (problem: string): never => {
  throw new Error(problem);
};
const expand = (value: unknown, variables: Variables = {}) => expandVariables(value, variables, fail);

describe("variables in a configuration (S4-63)", () => {
  it("are filled in, in texts, lists and objects of any depth", () => {
    const value = {
      url: `https://\${HOST}/mcp`,
      args: ["--key", `\${KEY}`],
      env: { A: { B: `\${KEY}\${KEY}` } },
    };
    expect(expand(value, { HOST: "example.org", KEY: "k" })).toEqual({
      url: "https://example.org/mcp",
      args: ["--key", "k"],
      env: { A: { B: "kk" } },
    });
  });

  it("have a default, which also replaces an empty value", () => {
    expect(expand(`\${A:-one}`)).toBe("one");
    expect(expand(`\${A:-one}`, { A: "" })).toBe("one");
    expect(expand(`\${A:-one}`, { A: "two" })).toBe("two");
    expect(expand(`[\${A:-}]`)).toBe("[]");
    expect(expand(`\${URL:-http://127.0.0.1:3000/a?b=c}`)).toBe("http://127.0.0.1:3000/a?b=c");
  });

  it("may be empty where there is no default", () => {
    expect(expand(`[\${A}]`, { A: "" })).toBe("[]");
  });

  it("that are not set and have no default are named", () => {
    expect(() => expand({ env: { TOKEN: `\${NOTES_TOKEN}` } })).toThrow("NOTES_TOKEN, which is not set");
  });

  it("are not looked for in the prototype of the environment", () => {
    expect(() => expand(`\${constructor}`)).toThrow("constructor");
    expect(expand(`\${toString:-none}`)).toBe("none");
  });

  it("do not replace other text or keys", () => {
    const key = `\${A}`;
    const value = { [key]: `$A \${} \${1} \${A-b} $\${ {A}`, n: 1, yes: true, none: null };
    expect(expand(value, { A: "x" })).toEqual(value);
  });

  it("are expanded once: a variable in a value is not expanded again", () => {
    const piece = constantFrom(`$A`, `$B`, `$SECRET`, `$A:-$B`, "$", "{", "}", "$&", "$1", "x");
    const text = array(piece).map((pieces) => pieces.join(""));
    assert(
      property(text, text, (A, B) => {
        expect(expand(`<\${A}|\${B}>`, { A, B, SECRET: "s3cret" })).toBe(`<${A}|${B}>`);
      }),
    );
  });

  it("change nothing in a text without a dollar", () => {
    const plain = string().filter((text) => !text.includes("$"));
    assert(
      property(dictionary(string(), plain), (value) => {
        expect(expand(value)).toEqual({ ...value });
      }),
    );
  });
});
