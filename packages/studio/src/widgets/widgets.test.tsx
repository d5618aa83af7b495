import type { UiHint } from "capstan";
import fc from "fast-check";
import type { ReactNode } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { describe, expect, it } from "vitest";
import { splitCitedParts } from "../markdown/find-quotes.ts";
import { CommandWidget } from "./command-widget.tsx";
import { DiffWidget } from "./diff-widget.tsx";
import { type Label, measureLabel, placeLabels } from "./drawing/place-labels.ts";
import { clampView, zoomAt } from "./drawing/use-pan-zoom.ts";
import { EmailWidget } from "./email-widget.tsx";
import { buildGraph, countTypes } from "./graph/graph-model.ts";
import { createProjection } from "./map/map-projection.ts";
import { MapWidget } from "./map/map-widget.tsx";
import { pairLines, parseDiff } from "./parse-diff.ts";
import { command, email, rename } from "./previews-fixture-data.ts";
import { SourcesWidget } from "./sources-widget.tsx";
import { getColumns, selectRows, toCsv } from "./table-rows.ts";
import { TableWidget } from "./table-widget.tsx";
import { hasWidget, Widget } from "./widget.tsx";
import type { CommandProps, DiffProps, EmailProps, MapProps } from "./widget-props.ts";
import {
  chartShape,
  commandShape,
  diffShape,
  emailShape,
  graphShape,
  mapShape,
  sourcesShape,
  tableShape,
} from "./widget-shapes.ts";
import { bars, chart, diff, graph, hostileHint, map, sources, table } from "./widgets-fixture-data.ts";

const render = (node: ReactNode): string => renderToStaticMarkup(node);

describe("a hint", () => {
  it("of an unknown kind is shown as JSON with the reason", () => {
    const shown = render(<Widget hint={{ kind: "hologram", props: { depth: 3 } }} />);
    expect(shown).toContain("No widget for &quot;hologram&quot;.");
    expect(shown).toContain("&quot;depth&quot;: 3");
    expect(hasWidget("hologram")).toBe(false);
  });

  it.each([
    "__proto__",
    "constructor",
    "toString",
  ])("of a graph with a node called %s is refused (A117)", (id) => {
    const hint = { kind: "graph", props: { nodes: [{ id }, { id: "b" }], edges: [{ from: "b", to: id }] } };
    expect(render(<Widget hint={hint} />)).toContain("props.nodes[0].id is a reserved word");
    expect(Object.keys(Object.prototype)).toEqual([]);
  });

  it.each(["__proto__", "constructor", "toString"])("named %s has no widget (A74)", (kind) => {
    expect(hasWidget(kind)).toBe(false);
    expect(render(<Widget hint={{ kind, props: {} }} />)).toContain("No widget for");
  });

  it.each([
    ["map", {}, "props.levels must be a list"],
    ["map", { levels: [] }, "props.levels must not be empty"],
    [
      "map",
      {
        levels: [
          {
            id: "1",
            name: "1",
            features: [{ type: "Feature", geometry: { type: "Circle" }, properties: {} }],
          },
        ],
      },
      "props.levels[0].features[0].geometry.type must be one of",
    ],
    [
      "graph",
      { nodes: [{ id: "a", color: "url(https://evil.example)" }], edges: [] },
      "props.nodes[0].color must be a color",
    ],
    ["sources", { sources: [{ title: "a", text: 7 }] }, "props.sources[0].text must be text"],
    ["diff", { diff: null }, "props.diff must be text"],
    ["table", { rows: 500 }, "props.rows must be a list"],
    ["table", { rows: [{ a: { b: 1 } }] }, "props.rows[0].a must be text"],
    ["chart", { type: "pie", x: { values: [] }, series: [] }, "props.type must be one of line, bar, area"],
    [
      "chart",
      { type: "line", x: { values: [1, 2] }, series: [{ label: "a", values: [1] }] },
      "props.series[0].values must have as many items as x.values",
    ],
    [
      "chart",
      { type: "line", x: { values: [2, 1] }, series: [] },
      "props.x.values must be ascending, but [1] is not",
    ],
  ])("%s with invalid props is shown as JSON with the path: %j", (kind, props, problem) => {
    const shown = render(<Widget hint={{ kind, props } as UiHint} />);
    expect(shown).toContain(`Invalid data for this widget: ${problem}`);
  });

  it("with anything at all in it never throws", () => {
    const kinds = fc.constantFrom("map", "graph", "sources", "diff", "table", "chart", "other");
    fc.assert(
      fc.property(kinds, fc.jsonValue(), (kind, props) => {
        expect(render(<Widget hint={{ kind, props: props as UiHint["props"] }} />)).toContain("<");
      }),
      { numRuns: 200 },
    );
  });

  it("of the fixtures is valid", () => {
    const shapes = {
      map: mapShape,
      graph: graphShape,
      sources: sourcesShape,
      diff: diffShape,
      command: commandShape,
      email: emailShape,
      table: tableShape,
      chart: chartShape,
    };
    for (const { kind, props } of [map, graph, sources, diff, rename, command, email, table, chart, bars])
      expect(shapes[kind](props, "props")).toBeUndefined();
  });

  it("with hostile text is rendered as text (A64, A66, A68)", () => {
    const views: { readonly [kind: string]: (props: never) => ReactNode } = {
      map: MapWidget,
      sources: SourcesWidget,
      diff: DiffWidget,
      command: CommandWidget,
      email: EmailWidget,
      table: TableWidget,
    };
    for (const { kind, props } of hostileHint) {
      const View = (Object.hasOwn(views, kind) ? views[kind] : undefined) as
        | ((props: object) => ReactNode)
        | undefined;
      const shown = render(View ? <View {...(props as object)} /> : <Widget hint={{ kind, props }} />);
      expect(shown).not.toMatch(/<(?:img|script|iframe)|href="javascript/);
      expect(shown.replace(/"[^"]*"/g, '""')).not.toMatch(/<[^>]* on\w+=/);
    }
  });
});

describe("the map", () => {
  const square: MapProps = {
    levels: [
      {
        id: "1",
        name: "Ground",
        features: [
          {
            type: "Feature",
            geometry: {
              type: "Polygon",
              coordinates: [
                [
                  [0, 0],
                  [1, 0],
                  [1, 1],
                  [0, 1],
                  [0, 0],
                ],
              ],
            },
            properties: { name: "Hall" },
          },
        ],
      },
    ],
    pins: [{ label: "Gate", level: "1", at: [1, 1], note: "Open" }],
    route: { points: [], steps: ["Go"] },
  };

  it("draws a level with either winding order", () => {
    const size = { width: 400, height: 300 };
    const { path } = createProjection(square, size);
    for (const corners of [
      [
        [0, 0],
        [1, 0],
        [1, 1],
        [0, 0],
      ],
      [
        [0, 0],
        [1, 1],
        [1, 0],
        [0, 0],
      ],
    ]) {
      const [[left, top], [right, bottom]] = path.bounds({ type: "Polygon", coordinates: [corners] });
      expect([left, top, right, bottom].every((edge) => edge >= 0 && edge <= 400)).toBe(true);
    }
  });

  it("has finite positions for a single point, for none, and for the poles", () => {
    for (const at of [
      [0, 0],
      [5, 90],
      [1e9, -1e9],
    ] as const) {
      const { project } = createProjection(
        { levels: [], pins: [{ label: "a", level: "1", at }] },
        { width: 300, height: 200 },
      );
      expect(project(at).every(Number.isFinite)).toBe(true);
    }
  });

  it("has a text alternative", () => {
    const shown = render(<MapWidget {...square} />);
    expect(shown).toContain("Places and steps");
    expect(shown).toContain("Gate</button>");
    expect(shown).toContain(", Ground. Open");
    expect(shown).toContain('<li class="py-0.5">Go</li>');
    expect(shown).toContain('aria-label="Map of Ground. Arrow keys pan');
  });

  it("never overlaps labels", () => {
    const label = fc.record({
      text: fc.string({ minLength: 1, maxLength: 20 }),
      x: fc.integer({ min: 0, max: 400 }),
      y: fc.integer({ min: 0, max: 300 }),
    });
    fc.assert(
      fc.property(fc.array(label, { maxLength: 60 }), (labels: Label[]) => {
        const placed = placeLabels(labels);
        placed.forEach((one, index) => {
          for (const other of placed.slice(index + 1)) {
            const apart =
              Math.abs(one.x - other.x) >= (measureLabel(one.text) + measureLabel(other.text)) / 2;
            expect(apart || Math.abs(one.y - other.y) >= 15).toBe(true);
          }
        });
      }),
    );
  });

  it("zooms around the pointer and stays on the screen", () => {
    const view = zoomAt({ scale: 1, x: 0, y: 0 }, 2, { x: 100, y: 50 });
    expect(view).toEqual({ scale: 2, x: -100, y: -50 });
    expect(clampView({ scale: 1, x: 9999, y: -9999 }, { width: 400, height: 300 })).toEqual({
      scale: 1,
      x: 200,
      y: -150,
    });
  });
});

describe("the diff", () => {
  it("numbers the lines of both sides and counts them", () => {
    const { hunks, added, removed } = parseDiff(
      "--- a/x\n+++ b/x\n@@ -3,2 +3,3 @@ f\n a\n-b\n+c\n+--- d\n--- a/y\n+++ b/y\n@@ -1 +1 @@\n-x\n\\ No newline at end of file\n+y\n",
    );
    expect({ added, removed }).toEqual({ added: 3, removed: 2 });
    expect(hunks[0]?.lines).toEqual([
      { type: "same", text: "a", before: 3, after: 3 },
      { type: "removed", text: "b", before: 4 },
      { type: "added", text: "c", after: 4 },
      { type: "added", text: "--- d", after: 5 },
    ]);
    expect(hunks[1]?.lines.map(({ type }) => type)).toEqual(["removed", "note", "added"]);
  });

  it("pairs removed lines with their replacements", () => {
    const lines = parseDiff("@@ -1,3 +1,2 @@\n a\n-b\n-c\n+d\n").hunks[0]?.lines ?? [];
    expect(pairLines(lines).map(({ left, right }) => [left?.text, right?.text])).toEqual([
      ["a", "a"],
      ["b", "d"],
      ["c", undefined],
    ]);
  });

  it("distinguishes added from removed by sign and text, not only by color", () => {
    const shown = render(<DiffWidget path="a" diff={"@@ -1 +1 @@\n-a\n+b\n"} />);
    expect(shown).toContain(">−</td>");
    expect(shown).toContain("Removed: </span>a");
    expect(shown).toContain("Added: </span>b");
  });

  it("truncates long diffs and escapes invisible characters (A71)", () => {
    const long = `@@ -0,0 +1,400 @@\n${"+x\u202e\n".repeat(400)}`;
    const shown = render(<DiffWidget diff={long} />);
    expect(shown.match(/<tr/g)).toHaveLength(120);
    expect(shown).toContain("Show 280 more lines");
    expect(shown).toContain("x\\u{202e}");
  });

  it("shows when nothing changed, and keeps a line outside of hunks", () => {
    expect(render(<DiffWidget diff="" />)).toContain("No changes.");
    expect(render(<DiffWidget diff={"Binary file a/x replaced by text\n"} />)).toContain("Binary file");
  });
});

describe("the table", () => {
  const rows = [
    { a: "b", n: 10 },
    { a: "A", n: 9 },
    { a: null, n: null },
  ];

  it("finds its columns and aligns numbers right", () => {
    expect(getColumns({ rows }).map(({ key, align }) => [key, align])).toEqual([
      ["a", "left"],
      ["n", "right"],
    ]);
  });

  it("sorts numbers as numbers, with empty cells last", () => {
    const by = (direction: "ascending" | "descending") =>
      selectRows(rows, "", { key: "n", direction }).map(({ n }) => n);
    expect(by("ascending")).toEqual([9, 10, null]);
    expect(by("descending")).toEqual([10, 9, null]);
    expect(selectRows(rows, "a", undefined)).toHaveLength(1);
  });

  it("copies CSV that no spreadsheet executes", () => {
    const columns = getColumns({ rows: [{ x: 'a,"b"', y: "=1+1", z: -1 }] });
    expect(toCsv(columns, [{ x: 'a,"b"', y: "=1+1", z: -1 }])).toBe(`x,y,z\r\n"a,""b""",'=1+1,-1\r\n`);
  });

  it("renders only some of many rows and shows the total", () => {
    const shown = render(<TableWidget rows={Array.from({ length: 5000 }, (_, n) => ({ n }))} />);
    expect(shown).toContain('aria-rowcount="5001"');
    expect(shown.match(/role="row"/g)?.length).toBeLessThan(40);
  });
});

it("a map shows icons in rooms and at points, and a legend of the categories", () => {
  const square = [
    [0, 0],
    [60, 0],
    [60, 60],
    [0, 60],
    [0, 0],
  ] as const;
  const room = { type: "Polygon", coordinates: [square] } as const;
  const point = { type: "Point", coordinates: [100, 30] } as const;
  const shown = render(
    <MapWidget
      coordinates="plan"
      levels={[
        {
          id: "1",
          name: "Level 1",
          features: [
            { type: "Feature", geometry: room, properties: { name: "Bistro", category: "food" } },
            { type: "Feature", geometry: point, properties: { category: "lift" } },
          ],
        },
      ]}
    />,
  );
  expect(shown.match(/data-category="\w+"/g)).toEqual(['data-category="food"', 'data-category="lift"']);
  expect(shown).toMatch(/aria-label="Categories".*Food.*Lifts/);
});

describe("the graph", () => {
  it("drops edges to missing nodes and positions every node", () => {
    for (const layout of ["force", "circle", "grid"] as const) {
      const made = buildGraph(
        {
          nodes: [{ id: "a" }, { id: "b" }, { id: "a" }],
          edges: [
            { from: "a", to: "b" },
            { from: "a", to: "x" },
          ],
        },
        layout,
      );
      expect([made.nodes.size, made.edges.length]).toEqual([2, 1]);
      for (const { x, y } of made.nodes.values()) expect([x, y].every((at) => at >= 0 && at <= 1)).toBe(true);
    }
  });

  it("has a legend with the colors of its types", () => {
    const nodes = [
      { id: "1", type: "cat", color: "#00f" },
      { id: "2", type: "cat", color: "#00f" },
      { id: "3", type: "dog" },
    ];
    expect(countTypes(nodes)).toEqual([
      { type: "cat", count: 2, color: "#00f" },
      { type: "dog", count: 1, color: undefined },
    ]);
  });
});

describe("the sources", () => {
  it("highlight a single word only at the start of a word", () => {
    expect(
      splitCitedParts("invalid, valid or validated", ["valid"]).filter(({ isCited }) => isCited),
    ).toEqual([
      { text: "valid", isCited: true },
      { text: "validated", isCited: true },
    ]);
  });

  it("highlight cited text, also across lines and overlaps", () => {
    expect(splitCitedParts("one two\nthree four", ["two three", "three four"])).toEqual([
      { text: "one ", isCited: false },
      { text: "two\nthree", isCited: true },
      { text: " four", isCited: true },
    ]);
    expect(splitCitedParts("a (b)*", ["(b)*", ""])).toEqual([
      { text: "a ", isCited: false },
      { text: "(b)*", isCited: true },
    ]);
  });
});

describe("what a call would do", () => {
  it("names every file of a diff, and both names of a renamed one", () => {
    const shown = render(<DiffWidget {...(rename.props as DiffProps)} />);
    expect(shown).toContain("3 files");
    for (const file of ["src/greet.py → src/welcome.py", "docs/greet.md → docs/welcome.md", "main.py"])
      expect(shown).toContain(file);
    expect(shown).toContain("renamed, not changed");
    expect(shown).toContain("+2 −2");
    expect(shown.indexOf("src/welcome.py")).toBeLessThan(shown.indexOf("def welcome"));
    expect(shown.indexOf("main.py")).toBeGreaterThan(shown.indexOf("docs/welcome.md"));
  });

  it("shows a command with its folder and what it can reach", () => {
    const shown = render(<CommandWidget {...(command.props as CommandProps)} />);
    for (const text of ["npm run build", "/home/ann/project", "Network", "none", "the working folder"])
      expect(shown).toContain(text);
  });

  it("shows an email with every recipient", () => {
    const shown = render(<EmailWidget {...(email.props as EmailProps)} />);
    for (const text of [
      "ines@larkfield.example, tomas@",
      "priya@",
      "Workshop budget",
      "18,400",
      "budget.pdf",
    ])
      expect(shown).toContain(text);
    expect(shown).not.toContain("Bcc");
  });
});
