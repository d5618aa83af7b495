import type { HLJSApi } from "highlight.js";
import { createModuleHook } from "./load-on-demand.ts";

/** A piece of code with its highlight.js scope. */
export type CodePiece = { readonly scope: string | undefined; readonly text: string };

type ScopeNode = { readonly scope?: string; readonly children: readonly (ScopeNode | string)[] };

const useHighlighter = createModuleHook(async () => (await import("highlight.js/lib/common")).default);

const maxCodeLength = 60_000;

/**
 * Returns highlighted code, or undefined while the highlighter loads or if the language is unknown. Uses the token tree of
 * highlight.js instead of its HTML output, so that model output never becomes HTML.
 */
export function useHighlightedCode(
  code: string,
  language: string,
  isWanted: boolean,
): readonly CodePiece[] | undefined {
  const canHighlight = isWanted && language !== "" && code.length <= maxCodeLength;
  const highlighter = useHighlighter(canHighlight);
  if (!canHighlight || !highlighter?.getLanguage(language)) return undefined;
  return tokenizeCode(highlighter, code, language);
}

/** The token tree has no public type, so its shape is checked. */
export function tokenizeCode(
  highlighter: HLJSApi,
  code: string,
  language: string,
): readonly CodePiece[] | undefined {
  const result = highlighter.highlight(code, { language, ignoreIllegals: true });
  const root: unknown = Reflect.get(result._emitter, "rootNode");
  if (typeof root !== "object" || root === null || !("children" in root)) return undefined;
  const pieces: CodePiece[] = [];
  collectPieces(root as ScopeNode, pieces);
  return pieces;
}

function collectPieces(node: ScopeNode, pieces: CodePiece[]): void {
  for (const child of node.children) {
    if (typeof child === "string") pieces.push({ scope: node.scope, text: child });
    else
      collectPieces(
        child.scope === undefined && node.scope !== undefined ? { ...child, scope: node.scope } : child,
        pieces,
      );
  }
}
