import type { Json, Tool, ToolExample } from "capstan";
import { suggestName } from "capstan";
import {
  type CommandResult,
  defineCommand,
  type GraphContext,
  getGraphCacheMs,
  Refusal,
} from "../command.ts";
import { getName, listProperties, type Network, type NetworkEdge, type NetworkNode } from "../network.ts";
import { selectEdges, selectNodes } from "../pick-nodes.ts";
import { explainNoNodes, formatNoNodes, targetInput } from "../selection.ts";
import { findPropertyName } from "../selector.ts";

const statistics = ["average", "minimum", "maximum", "total"] as const;
type Target = "nodes" | "edges";
type Statistic = (typeof statistics)[number];
type Input = {
  readonly property: string;
  readonly target?: Target;
  readonly selector?: string;
  readonly statistic?: Statistic;
};
type Member = NetworkNode | NetworkEdge;
type Value = string | number | boolean;

export function describeProperty(graphContext: GraphContext): Tool {
  return defineCommand<Input>(graphContext, {
    name: "describeProperty",
    description:
      "Summarizes the values of a property of all nodes or edges, or of those matching a selector: count, most frequent, smallest, largest, mean; or one `statistic` of its numbers.",
    input: {
      property: { type: "string", description: "Name of the property, such as breed" },
      target: targetInput,
      selector: { type: "string", description: "Which nodes or edges, such as type == 'cat'. Default: all" },
      statistic: { type: "string", enum: [...statistics], description: "Only this number" },
    },
    required: ["property"],
    effects: "none",
    cacheMs: getGraphCacheMs(graphContext),
    examples: [
      { phrase: "tell me about the property {property}" },
      { phrase: "what values does {property} have" },
      { phrase: "describe the property {property} of the edges", input: { target: "edges" } },
      ...statisticExamples,
    ],
    run(input, { network }) {
      const { property, target = "nodes", selector } = input;
      const members = selectTarget(network, target, selector);
      if (members.length === 0 && selector !== undefined) return [explainNothing(network, selector)];
      const name = resolveProperty(members, property, target);
      const owners = members.filter(({ data }) => Object.hasOwn(data, name));
      return [
        input.statistic === undefined
          ? summarizeProperty(owners, name, { total: members.length, target })
          : computeStatistic(owners, name, { statistic: input.statistic, target }),
      ];
    },
  });
}

const ofType = (statistic: Statistic) => ({ statistic, selector: "type == '{type}'" });
const statisticExamples: readonly ToolExample[] = [
  { phrase: "average {property} of the {type}", input: ofType("average") },
  { phrase: "what is the average {property} of the {type}", input: ofType("average") },
  { phrase: "what is the mean {property} of all {type}", input: ofType("average") },
  { phrase: "what is the average {property}", input: { statistic: "average" } },
  { phrase: "total {property} of the {type}", input: ofType("total") },
  { phrase: "highest {property} of the {type}", input: ofType("maximum") },
  { phrase: "which {type} has the highest {property}", input: ofType("maximum") },
  { phrase: "lowest {property} of the {type}", input: ofType("minimum") },
  { phrase: "which {type} has the lowest {property}", input: ofType("minimum") },
  { phrase: "sum of the {property} of the {type}", input: ofType("total") },
  { phrase: "how much do the {type} cost", input: { property: "price", ...ofType("total") } },
  { phrase: "how much do the {type} cost together", input: { property: "price", ...ofType("total") } },
  { phrase: "what do the {type} cost together", input: { property: "price", ...ofType("total") } },
  { phrase: "how old are the {type} on average", input: { property: "age", ...ofType("average") } },
  ...createExtremeExamples("oldest", { property: "age", statistic: "maximum" }),
  ...createExtremeExamples("youngest", { property: "age", statistic: "minimum" }),
  ...createExtremeExamples("cheapest", { property: "price", statistic: "minimum" }),
  ...createExtremeExamples("most expensive", { property: "price", statistic: "maximum" }),
  { phrase: "which {type} costs the most", input: { property: "price", ...ofType("maximum") } },
  { phrase: "which {type} costs the least", input: { property: "price", ...ofType("minimum") } },
  { phrase: "which {type} has the most {property}", input: ofType("maximum") },
  { phrase: "which {type} has the fewest {property}", input: ofType("minimum") },
];

/** "Who is the oldest cat", "which cat is the oldest", and "who is the oldest" of all. */
function createExtremeExamples(
  word: string,
  input: { readonly property: string; readonly statistic: Statistic },
): readonly ToolExample[] {
  const typed = { ...input, selector: "type == '{type}'" };
  return [
    { phrase: `who is the ${word} {type}`, input: typed },
    { phrase: `what is the ${word} {type}`, input: typed },
    { phrase: `which {type} is the ${word}`, input: typed },
    { phrase: `who is the ${word}`, input },
  ];
}

function selectTarget(network: Network, target: Target, selector?: string): readonly Member[] {
  if (selector === undefined) return network[target];
  return target === "nodes" ? selectNodes(network, selector) : selectEdges(network, selector);
}

const explainNothing = (network: Network, selector: string): CommandResult => ({
  success: true,
  message: explainNoNodes(network, selector),
  note: formatNoNodes(selector),
  data: { count: 0 },
});

function resolveProperty(members: readonly Member[], property: string, target: string): string {
  const known = ["type", ...listProperties(members)];
  const name = findPropertyName(property, known);
  if (name !== undefined && members.some(({ data }) => Object.hasOwn(data, name))) return name;
  throw new Refusal(
    `No ${target} have the property "${property}".${suggestName(property, known)} Known properties: ${known.join(", ")}.`,
  );
}

type StatisticOptions = { readonly statistic: Statistic; readonly target: Target };

function computeStatistic(
  owners: readonly Member[],
  name: string,
  { statistic, target }: StatisticOptions,
): CommandResult {
  const numbers = owners.flatMap(({ data }) => (typeof data[name] === "number" ? [data[name]] : []));
  if (numbers.length === 0) throw new Refusal(`The property "${name}" has no numbers.`);
  const value = round(compute[statistic](numbers));
  const isExtreme = statistic === "minimum" || statistic === "maximum";
  const holders = owners.filter(({ data }) => data[name] === value).slice(0, maxValues);
  const message = `The ${statistic} of "${name}" is ${value}.`;
  const data = {
    [`${statistic} ${name}`]: value,
    ...(isExtreme
      ? { [target]: holders.map(toHolder) }
      : { [target === "nodes" ? "nodeCount" : "edgeCount"]: numbers.length }),
  };
  return { success: true, message, data };
}

const toHolder = (member: Member): Json => ({
  id: member.id,
  name: "from" in member ? `${member.from} – ${member.to}` : getName(member),
});

const compute: { readonly [Name in Statistic]: (numbers: readonly number[]) => number } = {
  average: (numbers) => compute.total(numbers) / numbers.length,
  minimum: (numbers) => numbers.reduce((left, right) => Math.min(left, right)),
  maximum: (numbers) => numbers.reduce((left, right) => Math.max(left, right)),
  total: (numbers) => numbers.reduce((left, right) => left + right, 0),
};

const round = (value: number): number => Number(value.toFixed(2));

const maxValues = 10;

type SummaryOptions = { readonly total: number; readonly target: Target };

function summarizeProperty(
  owners: readonly Member[],
  name: string,
  { total, target }: SummaryOptions,
): CommandResult {
  const values = owners.map(({ data }) => data[name] ?? "");
  const message = `${values.length} of ${total} ${target} have "${name}".`;
  return { success: true, message, data: { property: name, has: values.length, ...summarizeValues(values) } };
}

function summarizeValues(values: readonly Value[]): { readonly [name: string]: Json } {
  const counts = new Map<Value, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  const frequentValues = [...counts].sort(([, left], [, right]) => right - left).slice(0, maxValues);
  const numbers = values.filter((value) => typeof value === "number");
  const range = numbers.length > 0 && {
    smallest: compute.minimum(numbers),
    largest: compute.maximum(numbers),
    mean: round(compute.average(numbers)),
  };
  return {
    distinct: counts.size,
    ...range,
    values: frequentValues.map(([value, count]) => ({ value, count })),
  };
}
