// Translates a regular expression to a grammar for the texts that it matches from start to end: fewer than the pattern
// accepts if it has no anchors, never more. The result describes the text inside the quotes of a JSON string.
import { type PatternNode, parsePattern } from "./parse-pattern.ts";
import { createSchemaError, type Location, type Rules, repeat, toChoice, toLiteral } from "./rules.ts";

export type PatternLimits = {
  readonly pattern: string;
  readonly minLength: number;
  readonly maxLength: number;
};

/** Returns an expression for texts that match the pattern and have a length within the limits. */
export function buildPattern(
  rules: Rules,
  { pattern, minLength, maxLength }: PatternLimits,
  location: Location,
): string {
  const node = parsePattern(pattern, location);
  // Raises the lower and lowers the upper limits of open repetitions until every text has an allowed length.
  for (let floor = 0; floor <= Math.min(minLength, 1000); floor++)
    for (const ceiling of maxLength === Infinity ? [Infinity] : listCeilings(maxLength)) {
      const fitted = fitRepetitions(node, floor, ceiling);
      const [min, max] = measure(fitted);
      if (min >= minLength && max <= maxLength) return format(rules, fitted);
    }
  throw createSchemaError(location, "pattern", "has no match of the required length that can be found");
}

const listCeilings = (max: number): readonly number[] =>
  [max, 256, 128, 64, 32, 16, 8, 4, 2, 1, 0].filter((ceiling) => ceiling <= max);

function fitRepetitions(node: PatternNode, floor: number, ceiling: number): PatternNode {
  switch (node.type) {
    case "class":
    case "text":
      return node;
    case "sequence":
    case "choice":
      return { ...node, nodes: node.nodes.map((inner) => fitRepetitions(inner, floor, ceiling)) };
    case "repeat": {
      const max = node.max === Infinity ? Math.max(node.min, ceiling) : node.max;
      const min = Math.min(Math.max(node.min, floor), max);
      return { ...node, node: fitRepetitions(node.node, floor, ceiling), min, max };
    }
  }
}

function measure(node: PatternNode): readonly [number, number] {
  if (node.type === "class" || node.type === "text") return [1, 1];
  if (node.type === "repeat") {
    const [min, max] = measure(node.node);
    return [min * node.min, max === 0 ? 0 : max * node.max];
  }
  const lengths = node.nodes.map(measure);
  const sum = (index: 0 | 1) => lengths.reduce((total, length) => total + length[index], 0);
  if (node.type === "sequence") return [sum(0), sum(1)];
  return [Math.min(...lengths.map(([min]) => min)), Math.max(...lengths.map(([, max]) => max))];
}

function format(rules: Rules, node: PatternNode): string {
  switch (node.type) {
    case "class":
      return `[${node.body}]`;
    case "text":
      return toLiteral(JSON.stringify(node.character).slice(1, -1));
    case "sequence":
      return node.nodes.map((inner) => format(rules, inner)).join(" ") || '""';
    case "choice":
      return rules.add(toChoice(node.nodes.map((inner) => format(rules, inner))));
    case "repeat":
      return repeat(rules, rules.add(format(rules, node.node)), node) || '""';
  }
}
