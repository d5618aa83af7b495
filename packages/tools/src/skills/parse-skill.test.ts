import { describe, expect, it } from "vitest";
import { isSkillName, parseSkill } from "./parse-skill.ts";

const createText = (front: string, body = "Do it.") => `---\n${front}\n---\n\n${body}\n`;
const minimal = "name: pdf-forms\ndescription: Fills PDF forms. Use it for forms.";
const listErrors = (text: string, name = "pdf-forms") =>
  parseSkill(text, name).problems.flatMap(({ severity, line, message }) =>
    severity === "error" ? `${line}: ${message}` : [],
  );

describe("the front matter of a skill", () => {
  it("has all fields of the open format, as strings", () => {
    const front = `${minimal}
license: MIT
compatibility: Needs poppler
allowed-tools: Read shell
metadata:
  version: 1.0
  released: 2026-01-01`;
    expect(parseSkill(createText(front), "pdf-forms")).toEqual({
      metadata: {
        name: "pdf-forms",
        description: "Fills PDF forms. Use it for forms.",
        license: "MIT",
        compatibility: "Needs poppler",
        allowedTools: "Read shell",
        metadata: { version: "1.0", released: "2026-01-01" },
      },
      body: "Do it.",
      problems: [],
    });
  });

  it("may have a byte order mark, Windows line ends, a folded description and fields of other programs", () => {
    const text = `\uFEFF---\r\nname: pdf-forms\r\ndescription: >\r\n  Fills\r\n  forms.\r\nmodel: opus\r\nallowed-tools: [Read, Grep]\r\n---\r\nDo it.`;
    const { metadata, problems } = parseSkill(text, "pdf-forms");
    expect(metadata).toEqual({ name: "pdf-forms", description: "Fills forms.", allowedTools: "Read Grep" });
    expect(problems).toEqual([
      { line: 6, severity: "warning", message: "A field is not part of the format: it is ignored." },
    ]);
  });

  it.each([
    ["no front matter", "# PDF", "1: The file must start with YAML front matter between two lines `---`."],
    ["an open end", `---\n${minimal}\n`, "1: The file must start with YAML front matter"],
    ["no name", createText("description: x"), "1: `name` must be 1 to 64 lowercase letters"],
    ["a long name", createText(`name: ${"a".repeat(65)}\ndescription: x`), "2: `name` must be 1 to 64"],
    [
      "another name",
      createText("name: other\ndescription: x"),
      "2: `name` must be the name of the skill's folder.",
    ],
    [
      "no description",
      createText("name: pdf-forms\ndescription:"),
      "3: `description` must be a text of 1 to 1,024",
    ],
    [
      "a long description",
      createText(`name: pdf-forms\ndescription: ${"x".repeat(1025)}`),
      "3: `description` must be",
    ],
    [
      "a description that is a list",
      createText("name: pdf-forms\ndescription: {a: b}"),
      "3: `description` must be",
    ],
    [
      "a colon without quotes",
      createText("name: pdf-forms\ndescription: Use: forms"),
      "3: The front matter is not valid YAML",
    ],
    [
      "a field twice",
      createText(`${minimal}\nname: pdf-forms`),
      "4: The front matter is not valid YAML (DUPLICATE_KEY)",
    ],
    ["a list", createText("- a\n- b"), "2: The front matter must be a YAML map"],
  ])("is refused with %s", (_case, text, problem) => {
    expect(parseSkill(text, "pdf-forms").metadata).toBeUndefined();
    expect(listErrors(text).some((error) => error.startsWith(problem))).toBe(true);
  });

  it.each([
    [
      "aliases that grow exponentially",
      `a: &a [x, x]\n${Array.from({ length: 30 }, (_, at) => `b${at}: &b${at} [*${at === 0 ? "a" : `b${at - 1}`}, *${at === 0 ? "a" : `b${at - 1}`}]`).join("\n")}\n${minimal}`,
    ],
    ["an alias as its description", "x: &x Obey.\nname: pdf-forms\ndescription: *x"],
    ["thousands of open brackets", `name: pdf-forms\ndescription: ${"[".repeat(7_000)}`],
    ["deep nesting", `${minimal}\nmetadata: ${"{a: ".repeat(1400)}b${"}".repeat(1400)}`],
    ["a megabyte", `${minimal}\nlicense: ${"x".repeat(1_000_000)}`],
    [
      "a key that is a prototype",
      `${minimal}\n__proto__: {polluted: yes}\nmetadata: {__proto__: x, constructor: y}`,
    ],
    ["tags of other languages", `${minimal}\nlicense: !!js/function 'function () { return 1 }'`],
    ["control characters", `${minimal}\nlicense: "\\e[2J\\u202e"`],
  ])("is harmless with %s (A137)", (_case, front) => {
    const { metadata, problems } = parseSkill(createText(front), "pdf-forms");
    expect(JSON.stringify([metadata ?? {}]).length).toBeLessThan(2000);
    expect(JSON.stringify(problems)).not.toContain("Obey");
    expect(Object.hasOwn(Object.prototype, "polluted")).toBe(false);
    if (metadata) expect(metadata.name).toBe("pdf-forms");
    else expect(problems.some(({ severity }) => severity === "error")).toBe(true);
  });
});

it.each([
  ["pdf-forms", true],
  ["a", true],
  ["", false],
  ["-a", false],
  ["a--b", false],
  ["A", false],
  ["../a", false],
  ["a/b", false],
  ["ä", false],
])("the name %j is valid: %s", (name, isValid) => {
  expect(isSkillName(name)).toBe(isValid);
});
