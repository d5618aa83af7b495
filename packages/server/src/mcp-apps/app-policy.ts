import type { AppDomains } from "@capstan/mcp";

/**
 * Builds the content security policy of an app's page. The page has an origin that equals no other, so it shares no
 * cookies, storage or DOM with the studio. It loads and sends nothing but what its server has declared, and no forms.
 */
export function buildAppPolicy({ connect, resource, frame }: AppDomains): string {
  const directives: Readonly<Record<string, readonly string[]>> = {
    "default-src": [],
    // Code that the page makes itself can do no more than the page.
    "script-src": ["'unsafe-inline'", "'unsafe-eval'", "blob:", "data:", ...resource],
    "style-src": ["'unsafe-inline'", "blob:", "data:", ...resource],
    "img-src": ["blob:", "data:", ...resource],
    "font-src": ["blob:", "data:", ...resource],
    "media-src": ["blob:", "data:", ...resource],
    "worker-src": ["blob:"],
    "connect-src": connect,
    "frame-src": frame,
    "form-action": [],
    "base-uri": [],
    "frame-ancestors": ["'self'"],
  };
  const sources = Object.entries(directives).map(
    ([name, list]) => `${name} ${list.length === 0 ? "'none'" : list.join(" ")}`,
  );
  return [...sources, `sandbox ${appSandbox}`].join("; ");
}

/**
 * Builds the header by which browsers that support it also stop what no content security policy covers: WebRTC,
 * preconnecting and resolving names.
 */
export function buildConnectionAllowlist({ connect, resource, frame }: AppDomains): string {
  const patterns = new Set([...connect, ...resource, ...frame].map((origin) => `"${origin}/*"`));
  return `(${[...patterns].join(" ")})`;
}

/** Scripts, and forms that they handle. No popups, no navigation of the window, no dialogs, no downloads. */
const appSandbox = "allow-scripts allow-forms";
