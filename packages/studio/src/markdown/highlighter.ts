import type { HLJSApi } from "highlight.js";
import { useEffect, useSyncExternalStore } from "react";

/** A piece of code and what it is: a `scope` of highlight.js, or none. */
export type CodePiece = { readonly scope: string | undefined; readonly text: string };

type ScopeNode = { readonly scope?: string; readonly children: readonly (ScopeNode | string)[] };

let loaded: HLJSApi | undefined;
let isAsked = false;
const listeners = new Set<() => void>();

async function load(): Promise<void> {
  const { default: highlighter } = await import("highlight.js/lib/common");
  loaded = highlighter;
  for (const listener of listeners) listener();
}

function listen(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

const longest = 60_000;

/**
 * The code in coloured pieces: nothing while the colours are not loaded, or the language is not among the usual ones.
 * The pieces come from the tree of highlight.js and not from its HTML, so that no HTML is made from what a model wrote.
 */
export function useHighlighted(
  code: string,
  language: string,
  isWanted: boolean,
): readonly CodePiece[] | undefined {
  const highlighter = useSyncExternalStore(
    listen,
    () => loaded,
    () => undefined,
  );
  const isPossible = isWanted && language !== "" && code.length <= longest;
  useEffect(() => {
    if (!isPossible || isAsked) return;
    isAsked = true;
    // Text without colours is all that is lost; the next block asks again.
    load().catch(() => {
      isAsked = false;
    });
  }, [isPossible]);
  if (!isPossible || !highlighter?.getLanguage(language)) return undefined;
  return piecesOf(highlighter, code, language);
}

/** Where the tree is kept has no type of its own: it is looked at before it is used. */
export function piecesOf(
  highlighter: HLJSApi,
  code: string,
  language: string,
): readonly CodePiece[] | undefined {
  const result = highlighter.highlight(code, { language, ignoreIllegals: true });
  const root: unknown = Reflect.get(result._emitter, "rootNode");
  if (typeof root !== "object" || root === null || !("children" in root)) return undefined;
  const pieces: CodePiece[] = [];
  collect(root as ScopeNode, pieces);
  return pieces;
}

function collect(node: ScopeNode, pieces: CodePiece[]): void {
  for (const child of node.children) {
    if (typeof child === "string") pieces.push({ scope: node.scope, text: child });
    else
      collect(
        child.scope === undefined && node.scope !== undefined ? { ...child, scope: node.scope } : child,
        pieces,
      );
  }
}
