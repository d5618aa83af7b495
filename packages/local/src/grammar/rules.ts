// GBNF, the grammar notation of llama.cpp: named rules of texts, character classes and repetitions.
import { AgentError } from "capstan";

/** The rules of a grammar under construction. */
export type Rules = {
  /** Adds a rule and returns its name. The same body gives the same rule. */
  add(body: string): string;
  /** Reserves a name for a rule whose body refers to itself. */
  reserve(): string;
  set(name: string, body: string): void;
  /** Returns the text of the grammar that starts with this expression. */
  format(root: string): string;
};

export function createRules(): Rules {
  const bodies = new Map<string, string>();
  const names = new Map<string, string>();
  const reserve = (): string => {
    const name = `r${bodies.size}`;
    bodies.set(name, "");
    return name;
  };
  return {
    reserve,
    set: (name, body) => void bodies.set(name, body),
    add(body) {
      const known = names.get(body);
      if (known !== undefined) return known;
      const name = reserve();
      bodies.set(name, body);
      names.set(body, name);
      return name;
    },
    format: (root) =>
      [`root ::= ${root}`, ...[...bodies].map(([name, body]) => `${name} ::= ${body}`)].join("\n"),
  };
}

/** Formats a text that has to appear as it is. */
export function toLiteral(text: string): string {
  const escaped = text.replace(/["\\]/g, "\\$&").replace(/\n/g, "\\n").replace(/\r/g, "\\r");
  return `"${escaped.replace(/\t/g, "\\t")}"`;
}

/** Formats a choice. */
export function toChoice(choices: readonly string[]): string {
  return choices.length === 1 ? (choices[0] ?? "") : `( ${choices.join(" | ")} )`;
}

export type RepeatLimits = { readonly min: number; readonly max?: number };

const blockSize = 32;
const maxBlocks = 1000;

/**
 * Repeats a rule. llama.cpp expands every repetition, so a long one is built from blocks of blocks, and its upper
 * limit is rounded down to whole blocks.
 */
export function repeat(rules: Rules, item: string, { min, max = Infinity }: RepeatLimits): string {
  if (max === Infinity) return `${repeatExactly(rules, item, min)} ${item}*`.trim();
  const free = max - min;
  return `${repeatExactly(rules, item, min)} ${repeatUpTo(rules, item, free)}`.trim();
}

function repeatExactly(rules: Rules, item: string, count: number): string {
  if (count === 0) return "";
  if (count < blockSize) return `${item}{${count}}`;
  const block = rules.add(`${item}{${blockSize}}`);
  const rest = count % blockSize;
  return `${repeatExactly(rules, block, Math.floor(count / blockSize))} ${rest > 0 ? `${item}{${rest}}` : ""}`;
}

function repeatUpTo(rules: Rules, item: string, max: number): string {
  if (max === 0) return "";
  if (max < blockSize) return `${item}{0,${max}}`;
  const block = rules.add(`${item}{${blockSize}}`);
  const blocks = Math.floor((max + 1) / blockSize) - 1;
  const larger = blocks > maxBlocks ? repeatUpTo(rules, block, blocks) : `${block}{0,${blocks}}`;
  return `${blocks > 0 ? larger : ""} ${item}{0,${blockSize - 1}}`.trim();
}

/** The location of a schema: whose it is, and the path in it. */
export type Location = { readonly owner: string; readonly path: string };

/** Returns the error for a keyword whose values a grammar cannot describe. */
export function createSchemaError({ owner, path }: Location, keyword: string, reason: string): AgentError {
  const message = `The schema of ${owner} cannot be turned into a grammar: "${keyword}" at ${path || "/"} ${reason}. Simplify it, or use a model that needs no grammar.`;
  return new AgentError("model_rejected", message);
}
