// A page with every widget and Markdown, for tests and screenshots. All data is fictional.
import type { UiHint } from "capstan";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import "../ui/theme.css";
import { Markdown } from "../markdown/markdown.tsx";
import { command, email, rename } from "./previews-fixture-data.ts";
import { Widget } from "./widget.tsx";
import {
  bars,
  chart,
  citations,
  diff,
  graph,
  hostileHint,
  hostileRichText,
  hostileText,
  longText,
  map,
  richText,
  sources,
  table,
} from "./widgets-fixture-data.ts";

const query = new URLSearchParams(location.search);
document.documentElement.dataset.theme = query.get("theme") ?? "light";

function onCite(n: number): void {
  document.title = `cited ${n}`;
}

const hints: readonly UiHint[] = [map, graph, chart, bars, table, diff, rename, command, email, sources].map(
  (hint) => hint as unknown as UiHint,
);

function Page(): React.ReactNode {
  const rich = { rich: richText, "hostile-rich": hostileRichText }[query.get("text") ?? ""];
  if (rich !== undefined)
    return (
      <main className="mx-auto max-w-3xl p-4">
        <h1>Rich text</h1>
        <Markdown text={rich} />
        <p>The end.</p>
      </main>
    );
  if (query.has("hostile"))
    return (
      <main className="p-4">
        <h1>Hostile</h1>
        <Markdown text={hostileText} />
        {hostileHint.map((hint) => (
          <Widget key={JSON.stringify(hint)} hint={hint} />
        ))}
      </main>
    );
  return (
    <main className="mx-auto max-w-3xl p-4">
      <h1 className="sr-only">Widgets</h1>
      <Markdown text={longText} citations={citations} onCite={onCite} />
      {hints.map((hint) => (
        <Widget key={JSON.stringify(hint.kind) + JSON.stringify(hint.props).length} hint={hint} />
      ))}
      <Widget hint={{ kind: "hologram", props: { depth: 3 } }} />
    </main>
  );
}

const container = document.getElementById("fixture");
if (container)
  createRoot(container).render(
    <StrictMode>
      <Page />
    </StrictMode>,
  );
