export type ThemeChoice = "system" | "light" | "dark";

const place = "capstan-theme";
const dark = matchMedia("(prefers-color-scheme: dark)");

/** What the person has chosen; the system's when nothing. */
export function themeChoice(): ThemeChoice {
  const stored = localStorage.getItem(place);
  return stored === "light" || stored === "dark" ? stored : "system";
}

/** Chooses and shows it at once. */
export function chooseTheme(choice: ThemeChoice): void {
  if (choice === "system") localStorage.removeItem(place);
  else localStorage.setItem(place, choice);
  showTheme();
}

/** Puts the choice on the page, and follows the system where it is to. */
export function showTheme(): void {
  const choice = themeChoice();
  const isDark = choice === "system" ? dark.matches : choice === "dark";
  document.documentElement.dataset.theme = isDark ? "dark" : "light";
}

dark.addEventListener("change", showTheme);
