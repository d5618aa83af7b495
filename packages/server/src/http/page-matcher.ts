import { AgentError } from "capstan";
import { isApiPath } from "./guard.ts";

/** Whether a path is a page of the user interface. */
export type PageMatcher = (path: string) => boolean;

/**
 * Creates a matcher for the routes in the text of `pages.json`, such as `["/", "/sessions/:id"]`. A part that starts with
 * a colon matches any text. Without the text, every path that has no extension and belongs to no API is a page.
 */
export function createPageMatcher(text: string | undefined): PageMatcher {
  if (text === undefined) return (path) => simplePath.test(path) && !isApiPath(path);
  const routes = parseRoutes(text);
  return (path) => {
    const parts = toParts(path);
    return routes.some(
      (route) =>
        route.length === parts.length &&
        route.every((part, index) => (part.startsWith(":") ? parts[index] !== "" : part === parts[index])),
    );
  };
}

/** The first part is the name of a page, the others may be encoded names. */
const simplePath = /^\/(?:[\w~-]+(?:\/(?:[\w~-]|%[\dA-F]{2})+)*\/?)?$/i;

/** Routers ignore case and one slash at the end. */
const toParts = (path: string): readonly string[] =>
  path
    .toLowerCase()
    .replace(/([^/])\/$/, "$1")
    .split("/");

function parseRoutes(text: string): readonly (readonly string[])[] {
  const routes = parseJson(text);
  const isRoute = (route: unknown): route is string => typeof route === "string" && route.startsWith("/");
  if (Array.isArray(routes) && routes.every(isRoute)) return routes.map(toParts);
  const message =
    'The `pages.json` of the studio folder must be a list of paths such as ["/", "/sessions/:id"].';
  throw new AgentError("invalid_definition", message);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
