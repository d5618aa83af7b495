import { useSyncExternalStore } from "react";

/** Theme colors as values, for canvas drawing. */
export type ThemeColors = {
  readonly ink: string;
  readonly quiet: string;
  readonly faint: string;
  readonly line: string;
  readonly raised: string;
  readonly accent: string;
  readonly series: readonly string[];
};

const seriesCount = 8;

let cached: { readonly theme: string; readonly colors: ThemeColors } | undefined;

function readColors(): ThemeColors {
  const theme = document.documentElement.dataset.theme ?? "";
  if (cached?.theme === theme) return cached.colors;
  const style = getComputedStyle(document.documentElement);
  const getVariable = (name: string): string => style.getPropertyValue(`--${name}`).trim();
  const series = Array.from({ length: seriesCount }, (_, index) => getVariable(`series-${index + 1}`));
  const colors = {
    ink: getVariable("ink"),
    quiet: getVariable("quiet"),
    faint: getVariable("faint"),
    line: getVariable("line"),
    raised: getVariable("raised"),
    accent: getVariable("accent"),
    series,
  };
  cached = { theme, colors };
  return colors;
}

function onThemeChange(onChange: () => void): () => void {
  const observer = new MutationObserver(onChange);
  observer.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
  return () => observer.disconnect();
}

const noColors: ThemeColors = { ink: "", quiet: "", faint: "", line: "", raised: "", accent: "", series: [] };

/** Returns the current theme's colors. */
export function useThemeColors(): ThemeColors {
  return useSyncExternalStore(onThemeChange, readColors, () => noColors);
}

/** Returns the CSS variable of the nth series color. */
export function getSeriesVariable(index: number): string {
  return `var(--series-${(index % seriesCount) + 1})`;
}
