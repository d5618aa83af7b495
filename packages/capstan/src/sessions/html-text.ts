import { escapeControls } from "../base/escape-text.ts";

/** Escapes text for use between tags and in quoted attributes. Control characters become visible. */
export function escapeHtml(text: string): string {
  return escapeControls(text).replaceAll(/[&<>"'`]/g, (character) => `&#${character.charCodeAt(0)};`);
}
