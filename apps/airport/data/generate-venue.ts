// Generates Harbor International, a fictional airport, as an IMDF folder with a walking graph:
//   node apps/airport/data/generate-venue.ts

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  addFeature,
  createDraft,
  createFeatureId,
  type Draft,
  toEarth,
  toLabel,
  toPolygon,
} from "./draft.ts";
import { closeSpines, drawPassages, drawTerminal } from "./draw-terminal.ts";
import { terminals } from "./harbor-plan.ts";

export const harborFolder: string = join(import.meta.dirname, "harbor");

/** Returns the text of each file by name. Deterministic. */
export function generateVenue(): ReadonlyMap<string, string> {
  const draft = createDraft();
  const properties = {
    category: "airport",
    name: toLabel("Harbor International (fictional)"),
    hours: "24/7",
    website: null,
    phone: null,
    address_id: createFeatureId("address"),
  };
  addFeature(draft, "venue", {
    id: createFeatureId("venue"),
    geometry: toPolygon([-30, -30, 750, 380]),
    properties,
  });
  const address = { address: "Harbor International (fictional)", locality: "Nowhere", country: "XX" };
  addFeature(draft, "address", { id: createFeatureId("address"), geometry: null, properties: address });
  const drawings = terminals.map((terminal) => drawTerminal(draft, terminal));
  terminals.forEach(({ east }, index) => {
    const [from, to, next] = [drawings[index], drawings[index + 1], terminals[index + 1]];
    if (from && to && next) drawPassages(draft, { from, to, west: east, east: next.west });
  });
  for (const drawing of drawings) closeSpines(drawing);
  return serializeFiles(draft);
}

function serializeFiles({ files, nodes, edges }: Draft): Map<string, string> {
  const manifest = {
    version: "1.0.0",
    created: "2026-01-01T00:00:00Z",
    generated_by: "Capstan: a fictional airport",
    language: "en",
    extensions: null,
  };
  const texts = new Map([["manifest.json", `${JSON.stringify(manifest, null, 2)}\n`]]);
  for (const [type, features] of files) {
    const lines = features.map(({ id, geometry, properties }) =>
      JSON.stringify({ id, type: "Feature", feature_type: type, geometry, properties }),
    );
    const name = type === "venue" ? "Harbor International (fictional)" : type;
    texts.set(
      `${type}.geojson`,
      `{"type":"FeatureCollection","name":${JSON.stringify(name)},"features":[\n${lines.join(",\n")}\n]}\n`,
    );
  }
  const about =
    "Lines of JSON: nodes, then edges [from, to, metres, kind]. A checkpoint or an exit goes one way.";
  const places = nodes.map(({ at, ...node }) => ({ at: toEarth(at), ...node }));
  const lines = [{ about }, ...places, ...edges].map((line) => JSON.stringify(line));
  texts.set("walking-graph.jsonl", `${lines.join("\n")}\n`);
  return texts;
}

// Not import.meta.main: Node 22 lacks it.
if (process.argv[1] === import.meta.filename) {
  mkdirSync(harborFolder, { recursive: true });
  for (const [name, text] of generateVenue()) writeFileSync(join(harborFolder, name), text);
}
