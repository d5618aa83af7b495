// The page that shows the widgets of an answer in other MCP hosts.
import type { UiHint } from "capstan";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { Widget } from "../widgets/widget.tsx";
import { connectHost } from "./connect-host.ts";
import "./page.css";

const root = document.documentElement;
const container = document.createElement("main");
document.body.append(container);
const drawing = createRoot(container);

const { resize, openLink } = connectHost({
  onContext({ theme }) {
    if (theme === "light" || theme === "dark") root.dataset.theme = theme;
  },
  onResult: ({ _meta: meta }) => draw(findHints(meta)),
});

function draw(hints: readonly UiHint[]): void {
  drawing.render(
    <StrictMode>
      {hints.map((hint, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the list does not change
        <Widget key={index} hint={hint} />
      ))}
    </StrictMode>,
  );
}

/** Returns the widgets of a result. They are validated when they are drawn. */
function findHints(meta: unknown): readonly UiHint[] {
  const { "capstan/widgets": hints } = Object(meta) as Readonly<Record<string, unknown>>;
  if (!Array.isArray(hints)) return [];
  return hints.filter((hint) => typeof hint?.kind === "string" && hint.props !== undefined);
}

new ResizeObserver(() => resize(Math.ceil(container.getBoundingClientRect().height))).observe(container);

// The frame can open nothing itself.
addEventListener(
  "click",
  (event) => {
    const link = (event.target as Element).closest<HTMLAnchorElement>("a[href]");
    if (!link) return;
    event.preventDefault();
    event.stopPropagation();
    openLink(link.href);
  },
  true,
);
