// Reads the metrics and labels that a PromQL expression uses, limited to the syntax of the kit's expressions.

/** A metric, and the labels that the expression selects it by. */
export type Selection = { readonly metric: string; readonly labels: readonly string[] };

const functions = new Set(["rate", "increase", "max", "sum", "histogram_quantile"]);
const keywords = new Set(["by", "and", "without", "ignoring"]);

/** Throws for unbalanced brackets and for functions that Prometheus does not have or the kit does not use. */
export function findSelections(expression: string): Selection[] {
  assertBalanced(expression);
  // Grouping labels are not metrics.
  const grouped = expression.replaceAll(/\b(?:by|without|ignoring)\s*\([^)]*\)/g, "");
  const withoutRanges = grouped.replaceAll(/\[[^\]]*\]/g, "");
  const selections: Selection[] = [];
  for (const [, name = "", opening, labels = ""] of withoutRanges.matchAll(
    /(?<!["\w$])([a-zA-Z_]\w*)(?:\s*(\()|\{([^}]*)\})?/g,
  )) {
    if (opening !== undefined && functions.has(name)) continue;
    if (opening !== undefined) throw new Error(`Unknown function ${name} in ${expression}`);
    if (keywords.has(name)) continue;
    selections.push({
      metric: name,
      labels: [...labels.matchAll(/(\w+)\s*(?:=~|!=|!~|=)/g)].map(([, label = ""]) => label),
    });
  }
  return selections;
}

/** Returns the labels that an expression groups by. */
export function findGroupLabels(expression: string): string[] {
  return [...expression.matchAll(/\b(?:by|without|ignoring)\s*\(([^)]*)\)/g)].flatMap(([, list = ""]) =>
    list.split(",").map((label) => label.trim()),
  );
}

const pairs: Readonly<Record<string, string>> = { ")": "(", "]": "[", "}": "{" };

function assertBalanced(expression: string): void {
  const open: string[] = [];
  for (const character of expression.replaceAll(/"[^"]*"/g, "")) {
    if ("([{".includes(character)) open.push(character);
    else if (character in pairs && open.pop() !== pairs[character])
      throw new Error(`Unbalanced ${character} in ${expression}`);
  }
  if (open.length > 0) throw new Error(`Missing bracket in ${expression}`);
}
