import { type Agent, defineAgent, defineTool, type Json } from "capstan";
import { scriptedModel } from "capstan/testing";

const createSquare = (x: number, name: string) => ({
  type: "Feature",
  geometry: {
    type: "Polygon",
    coordinates: [
      [
        [x, 0],
        [x + 20, 0],
        [x + 20, 20],
        [x, 20],
        [x, 0],
      ],
    ],
  },
  properties: { name, look: "room" },
});

const floor = {
  title: "Concourses",
  coordinates: "plan",
  levels: [{ id: "1", name: "Level 1", features: [createSquare(0, "A"), createSquare(20, "D")] }],
};
const createPin = (label: string, x: number) => ({ label, level: "1", at: [x, 10] });

const gate = defineTool({
  name: "find_gate",
  description: "Finds a gate",
  input: { type: "object" },
  effects: "ui",
  execute(input) {
    const { name } = input as { name: string };
    const isClear = name !== "15";
    const pins = isClear ? [createPin(name, 30)] : [createPin("A15", 10), createPin("D15", 30)];
    const replies = isClear ? [] : ["A15", "D15"];
    return { content: `${pins.length} found.`, ui: { kind: "map", props: { ...floor, pins, replies } } };
  },
});

const nodes = ["cat1", "cat2", "ada", "bo", "oslo"];

const draw = defineTool({
  name: "style_cats",
  description: "Draws the pets, the cats in a colour",
  input: { type: "object" },
  effects: "ui",
  execute(input) {
    const { color } = input as { color: string };
    const isCat = (id: string) => id.startsWith("cat");
    const styledNodes = nodes.map((id) => ({
      id,
      type: isCat(id) ? "cat" : "other",
      ...(isCat(id) && { color }),
    }));
    const edges = nodes.slice(1).map((from) => ({ from, to: "oslo" }));
    const props = { title: "Pets", nodes: styledNodes, edges };
    return { content: "Drawn.", affected: { nodes: nodes.filter(isCat) }, ui: { kind: "graph", props } };
  },
});

const idle = defineTool({
  name: "wait_for_rain",
  description: "Waits until it is told to stop",
  input: { type: "object" },
  effects: "none",
  execute: (_, { signal }) => new Promise((_resolve, reject) => signal.addEventListener("abort", reject)),
});

const calls: readonly (readonly [RegExp, string, Json, string])[] = [
  [/^Where/, "find_gate", { name: "15" }, "There are two gates 15. Which one?"],
  [/^[AD]15$/, "find_gate", { name: "D15" }, "Gate D15 is 40 m away."],
  [/^Make them (?<color>#\w+)/, "style_cats", {}, "The cats have another colour."],
  [/^Wait/, "wait_for_rain", {}, "It rains."],
];

/** An agent that answers with maps and graphs: Where, A15, D15, Make them #0000ff, Wait. */
export function createViewAgent(): Agent {
  const model = scriptedModel(({ history }) => {
    const lastInput = history.findLast((entry) => entry.type === "user");
    const text = lastInput?.type === "user" ? String(lastInput.content) : "";
    const [pattern, name, input, says] = calls.find(([words]) => words.test(text)) ?? [];
    if (!pattern || history.at(-1)?.type === "result") return { text: says ?? `You said: ${text}` };
    const groups = pattern.exec(text)?.groups;
    return { calls: [{ name: name ?? "", input: { ...(input as object), ...groups } }] };
  });
  return defineAgent({ name: "explorer", model, tools: [gate, draw, idle], policy: { gate: "off" } });
}
