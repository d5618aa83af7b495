export type ThemeChoice = "system" | "light" | "dark";

const storageKey = "capstan-theme";
const darkQuery = matchMedia("(prefers-color-scheme: dark)");

/** Returns the stored choice, `system` by default. */
export function getThemeChoice(): ThemeChoice {
  const stored = localStorage.getItem(storageKey);
  return stored === "light" || stored === "dark" ? stored : "system";
}

/** Stores and applies a choice. */
export function chooseTheme(choice: ThemeChoice): void {
  if (choice === "system") localStorage.removeItem(storageKey);
  else localStorage.setItem(storageKey, choice);
  applyTheme();
}

/** Applies the choice to the page. */
export function applyTheme(): void {
  const choice = getThemeChoice();
  const isDark = choice === "system" ? darkQuery.matches : choice === "dark";
  document.documentElement.dataset.theme = isDark ? "dark" : "light";
}

darkQuery.addEventListener("change", applyTheme);
