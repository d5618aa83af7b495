import type { ChartProps, GraphProps, MapProps, TableProps } from "@capstan/studio";
import { defineAgent, defineTool, run } from "capstan";
import { collect, scriptedModel } from "capstan/testing";

const departures: TableProps = {
  title: "Departures",
  columns: [{ key: "flight" }, { key: "to" }, { key: "minutes", label: "Minutes late" }],
  rows: [
    { flight: "HA 101", to: "Oslo", minutes: 0 },
    { flight: "HA 102", to: "Lisbon", minutes: 25 },
  ],
};

const gates: TableProps = {
  title: "Gates with the number 15",
  rows: [
    { gate: "A15", terminal: 1 },
    { gate: "D15", terminal: 2 },
  ],
  replies: ["A15", "D15"],
};

const waiting: ChartProps = {
  title: "Wait time",
  type: "line",
  unit: "min",
  x: { label: "Checkpoint", values: ["T1", "T2", "T3"] },
  series: [{ label: "Now", values: [12, 7, null] }],
};

const floor: MapProps = {
  title: "Pier D",
  coordinates: "plan",
  levels: [
    {
      id: "1",
      name: "Level 1",
      features: [
        {
          type: "Feature",
          geometry: {
            type: "Polygon",
            coordinates: [
              [
                [0, 0],
                [60, 0],
                [60, 20],
                [0, 20],
                [0, 0],
              ],
            ],
          },
          properties: { name: "Concourse", look: "open" },
        },
      ],
    },
  ],
  pins: [{ label: "Gate D15", level: "1", at: [52, 16], note: "Boarding at 14:20" }],
  route: {
    points: [
      { level: "1", at: [4, 10] },
      { level: "1", at: [52, 10] },
      { level: "1", at: [52, 16] },
    ],
    steps: ["Walk 48 m along the concourse.", "Gate D15 is on your left."],
  },
};

const pets: GraphProps = {
  nodes: [
    { id: "cat1", label: "Whiskers", type: "cat", color: "#0000ff" },
    { id: "ada", label: "Ada", type: "human" },
  ],
  edges: [{ from: "ada", to: "cat1" }],
  flash: ["cat1"],
};

// The model reads `content`; the user sees the widget.
const show = defineTool({
  name: "show",
  description: "Shows something about the airport",
  input: { type: "object", properties: { what: { type: "string" } }, required: ["what"] },
  effects: "ui",
  execute({ what }) {
    if (what === "departures")
      return { content: "2 departures are shown.", ui: { kind: "table", props: departures } };
    if (what === "waiting") return { content: "12 minutes at T1.", ui: { kind: "chart", props: waiting } };
    if (what === "gates") return { content: "There are 2 gates 15.", ui: { kind: "table", props: gates } };
    if (what === "pets") return { content: "2 pets are shown.", ui: { kind: "graph", props: pets } };
    return { content: "Gate D15 is on the map.", ui: { kind: "map", props: floor } };
  },
});

const model = scriptedModel([
  {
    calls: ["departures", "waiting", "gates", "pets", "gate"].map((what) => ({
      name: "show",
      input: { what },
    })),
  },
  { text: "Gate D15 is 52 m away." },
]);

const agent = defineAgent({ name: "desk", model, tools: [show] });
const { events, result } = await collect(run(agent, "Where is D15?"));

for (const event of events)
  if (event.type === "tool_call_result" && event.ui) console.log(`widget: ${event.ui.kind}`);
console.log(result.text);
