import { describe, expect, it } from "vitest";
import { coverageOf, pageOf, type Requirements, type Test } from "./coverage.ts";

const requirements: Requirements = {
  "S0-09": "It starts.",
  "S0-10": "It stops.",
  "S0-11": "It says `a | b`, or a <br>.",
  F1: "The disk is full.",
  F2: "The net is down.",
};

const titled = (title: string, file = "packages/a/src/a.test.ts"): Test => ({ file, title });
const covered = (...titles: readonly string[]): string[] =>
  coverageOf(
    requirements,
    titles.map((title) => titled(title)),
  ).rows.flatMap((row) => (row.tests.length > 0 ? [row.id] : []));

describe("the ids in a title", () => {
  it.each([
    ["one", "it works (S0-10)", ["S0-10"]],
    ["several", "it works (F2, S0-09)", ["S0-09", "F2"]],
    ["a range with a short end", "it works (S0-09..11)", ["S0-09", "S0-10", "S0-11"]],
    ["a range with a full end", "it works (F1..F2)", ["F1", "F2"]],
    ["at the beginning", "S0-09: it works", ["S0-09"]],
    ["none", "it works with UTF-8, H2, P-256 and A4", []],
  ])("are found: %s", (_what, title, ids) => {
    expect(covered(title)).toEqual(ids);
  });

  it("must be requirements", () => {
    const tests = [titled("it works (S0-12)"), titled("it works (S7-01)"), titled("it works (F1..F3)")];
    expect(coverageOf(requirements, tests).problems).toEqual([
      'Unknown requirement S0-12 in "it works (S0-12)" (packages/a/src/a.test.ts). Correct the id.',
      'Unknown requirement S7-01 in "it works (S7-01)" (packages/a/src/a.test.ts). Correct the id.',
      'Unknown requirement F3 in "it works (F1..F3)" (packages/a/src/a.test.ts). Correct the id.',
    ]);
  });
});

it("writes a page with counts, links to the tests and a mark where there is none", () => {
  const tests = [
    titled("starts [x] | y (S0-09)"),
    titled("starts again (S0-09)", "bench/b.test.ts"),
    titled("nothing <here>"),
  ];
  expect(pageOf(coverageOf(requirements, [...tests, ...tests]))).toMatchInlineSnapshot(`
    "# Requirements and the tests that prove them

    Written by \`npm run coverage\` from \`requirements.json\` and the titles of the tests; \`npm run check\` fails when it is out of date.

    | group | covered |
    | --- | --- |
    | S0 | 1 of 3 |
    | F | 0 of 2 |
    | all | 1 of 5 |

    ## S0

    | id | requirement | tests |
    | --- | --- | --- |
    | S0-09 | It starts. | [starts \\[x\\] \\| y (S0-09)](../packages/a/src/a.test.ts)<br>[starts again (S0-09)](../bench/b.test.ts) |
    | S0-10 | It stops. | **no test yet** |
    | S0-11 | It says \`a \\| b\`, or a &lt;br>. | **no test yet** |

    ## F

    | id | requirement | tests |
    | --- | --- | --- |
    | F1 | The disk is full. | **no test yet** |
    | F2 | The net is down. | **no test yet** |
    "
  `);
});
