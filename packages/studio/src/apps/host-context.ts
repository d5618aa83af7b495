import type { Json } from "capstan";

/** The studio's colors under the names that MCP Apps use. */
const colors: Readonly<Record<string, string>> = {
  "--color-background-primary": "--raised",
  "--color-background-secondary": "--sunken",
  "--color-text-primary": "--ink",
  "--color-text-secondary": "--quiet",
  "--color-text-tertiary": "--faint",
  "--color-border-primary": "--line",
  "--color-ring-primary": "--accent",
};

/** Describes the studio to an app: nothing about the user or the session. */
export function buildHostContext(): Readonly<Record<string, Json>> {
  const root = document.documentElement;
  const style = getComputedStyle(root);
  const variables = Object.entries(colors).map(([name, own]) => [name, style.getPropertyValue(own).trim()]);
  return {
    theme: root.dataset.theme === "dark" ? "dark" : "light",
    styles: {
      variables: { ...Object.fromEntries(variables), "--font-sans": "ui-sans-serif, system-ui, sans-serif" },
    },
    displayMode: "inline",
    availableDisplayModes: ["inline"],
    containerDimensions: { maxHeight: maxFrameHeight },
    locale: navigator.language,
    timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    platform: "web",
  };
}

/** In pixels. */
export const maxFrameHeight = 800;
export const minFrameHeight = 60;

/** Calls `listener` when the theme changes. */
export function watchTheme(listener: () => void): () => void {
  const observer = new MutationObserver(listener);
  observer.observe(document.documentElement, { attributeFilter: ["data-theme"] });
  return () => observer.disconnect();
}
