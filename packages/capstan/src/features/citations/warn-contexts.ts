import { isRecord } from "../../base/json.ts";
import { asToolReturn } from "../../kernel/calls/tool-return.ts";
import type { FactBody } from "../../kernel/event.ts";

/** Warns of `contexts` that do not count as passages, because the model cannot cite them. Never throws. */
export function warnLostContexts(returned: unknown, toolName: string): readonly FactBody[] {
  try {
    const problem = findProblem(returned);
    if (problem === undefined) return [];
    const message = `The tool "${toolName}" returned contexts that cannot be cited: ${problem}. Return contexts: [{ id, content, source: { title } }], all texts.`;
    return [{ type: "warning", code: "contexts_ignored", message }];
  } catch {
    return []; // a getter or a proxy that throws, see `asToolReturn`
  }
}

function findProblem(returned: unknown): string | undefined {
  if (!isRecord(returned)) return undefined;
  const metadata = isRecord(returned.metadata) ? returned.metadata : {};
  const contexts = returned.contexts ?? metadata.contexts;
  if (contexts === undefined || asToolReturn(returned)?.contexts) return undefined;
  const fragmentProblem = findFragmentProblem(contexts);
  if (fragmentProblem !== undefined) return fragmentProblem;
  return `the result has other keys than a tool's return value, or values of other types (${Object.keys(returned).join(", ").slice(0, 200)})`;
}

function findFragmentProblem(contexts: unknown): string | undefined {
  if (!Array.isArray(contexts)) return "contexts is not a list";
  for (const [index, fragment] of contexts.entries()) {
    if (!isRecord(fragment)) return `contexts[${index}] is not an object`;
    const source = isRecord(fragment.source) ? fragment.source : {};
    const texts = { id: fragment.id, content: fragment.content, "source.title": source.title };
    const [missing] = Object.entries(texts).find(([, text]) => typeof text !== "string") ?? [];
    if (missing !== undefined) return `contexts[${index}].${missing} is not a text`;
  }
  return undefined;
}
