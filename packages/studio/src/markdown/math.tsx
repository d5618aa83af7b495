import { createElement, Fragment, type ReactNode, useMemo } from "react";
import { escapeInvisible } from "../ui/escape-text.ts";
import { ScrollRegion } from "../ui/scroll-region.tsx";
import { createModuleHook } from "./load-on-demand.ts";

type MathProps = { readonly source: string; readonly isBlock: boolean };

// The package's types describe other exports.
const useTemml = createModuleHook(async () => (await import("temml")).default as unknown as Converter);

/** A formula as MathML. Shows its source until the converter is loaded, and if it is not valid. */
export function MathFormula({ source, isBlock }: MathProps): ReactNode {
  const temml = useTemml(true);
  const formula = useMemo(() => temml && tryConvert(temml, source, isBlock), [temml, source, isBlock]);
  if (formula === undefined)
    return (
      <code className="rounded bg-sunken px-1 py-px font-mono text-[0.875em] [overflow-wrap:anywhere]">
        {escapeInvisible(source)}
      </code>
    );
  if (!isBlock) return formula;
  return (
    <ScrollRegion role="group" label="Formula" className="my-4 overflow-x-auto overflow-y-hidden py-1">
      {formula}
    </ScrollRegion>
  );
}

type Converter = {
  readonly __renderToMathMLTree: (source: string, options: object) => unknown;
};

const maxExpand = 200;

function tryConvert(temml: Converter, source: string, isBlock: boolean): ReactNode | undefined {
  try {
    const options = { displayMode: isBlock, throwOnError: true, trust: false, strict: false, maxExpand };
    return toElement(temml.__renderToMathMLTree(source, options), { count: 0 });
  } catch {
    return undefined; // invalid, nested too deeply, or too large
  }
}

const elements = new Set(
  "math mi mn mo mtext ms mspace mrow mfrac msqrt mroot mstyle merror mpadded mphantom msub msup msubsup munder mover munderover mmultiscripts mprescripts mtable mtr mtd semantics none menclose".split(
    " ",
  ),
);
const attributes = new Set(
  "display displaystyle scriptlevel mathvariant stretchy fence separator form lspace rspace accent accentunder symmetric largeop movablelimits minsize maxsize linethickness width height depth voffset columnalign rowspacing columnspacing columnspan rowspan notation".split(
    " ",
  ),
);
const maxElements = 3000;

/** Turns the converter's tree into elements. Only known elements and attributes pass; there are no links or styles. */
function toElement(node: unknown, budget: { count: number }): ReactNode {
  budget.count += 1;
  if (budget.count > maxElements) throw new RangeError("The formula is too large.");
  if (typeof node !== "object" || node === null) return null;
  const { type, text, children = [] } = node as { type?: unknown; text?: unknown; children?: unknown };
  if (typeof text === "string") return escapeInvisible(text);
  const inner = Array.isArray(children) ? children.map((child) => toElement(child, budget)) : [];
  if (typeof type !== "string" || !elements.has(type)) return createElement(Fragment, null, ...inner);
  const given = Object.entries((node as { attributes?: object }).attributes ?? {});
  const props = Object.fromEntries(given.filter(([name]) => attributes.has(name)));
  return createElement(type, props, ...inner);
}
