import { useSyncExternalStore } from "react";
import "./palette.css";

/** The colours of the theme as values, for what is drawn on a canvas and cannot use CSS variables. */
export type ThemeColours = {
  readonly ink: string;
  readonly quiet: string;
  readonly faint: string;
  readonly line: string;
  readonly raised: string;
  readonly accent: string;
  readonly series: readonly string[];
};

const seriesCount = 8;

let known: { readonly theme: string; readonly colours: ThemeColours } | undefined;

function read(): ThemeColours {
  const theme = document.documentElement.dataset.theme ?? "";
  if (known?.theme === theme) return known.colours;
  const style = getComputedStyle(document.documentElement);
  const of = (name: string): string => style.getPropertyValue(`--${name}`).trim();
  const series = Array.from({ length: seriesCount }, (_, index) => of(`series-${index + 1}`));
  const colours = {
    ink: of("ink"),
    quiet: of("quiet"),
    faint: of("faint"),
    line: of("line"),
    raised: of("raised"),
    accent: of("accent"),
    series,
  };
  known = { theme, colours };
  return colours;
}

function listen(onChange: () => void): () => void {
  const observer = new MutationObserver(onChange);
  observer.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
  return () => observer.disconnect();
}

const none: ThemeColours = { ink: "", quiet: "", faint: "", line: "", raised: "", accent: "", series: [] };

/** Follows the theme. */
export function useThemeColours(): ThemeColours {
  return useSyncExternalStore(listen, read, () => none);
}

/** The colour of the nth kind or series, for CSS. */
export function seriesVariable(index: number): string {
  return `var(--series-${(index % seriesCount) + 1})`;
}
