/**
 * Replaces a browser language that is not a language tag. Chromium takes it from the environment, which may say
 * `en-US@posix`, and libraries that format numbers in it fail when they are loaded.
 */
export function repairLocale(): void {
  if (isTag(navigator.language)) return;
  const language = navigator.languages.find(isTag) ?? "en-US";
  Object.defineProperty(navigator, "language", { value: language, configurable: true });
  Object.defineProperty(navigator, "languages", { value: [language], configurable: true });
}

function isTag(language: string): boolean {
  try {
    return Intl.getCanonicalLocales(language).length > 0;
  } catch {
    return false;
  }
}
