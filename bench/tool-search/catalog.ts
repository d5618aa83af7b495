// The tools and sentences of the measurement. `tools.txt` has one tool per line: name, description, parameters;
// `sentences.txt` what a user says, and the tool that should be found for it; `queries.txt` what a language model searches
// for then, in the same order.
import { readFileSync } from "node:fs";
import { defineTool, type Tool } from "capstan";

export type CatalogOptions = { readonly defer?: boolean; readonly needsNothing?: boolean };

export type Sentence = { readonly text: string; readonly query: string; readonly tool: string };

/** 500 tools in 25 domains. They do nothing. With `needsNothing`, all their parameters are optional. */
export function readCatalog({ defer = false, needsNothing = false }: CatalogOptions): readonly Tool[] {
  return readDomains("tools.txt").map(({ domain, line }) => {
    const [, name = "", description = "", parameters = ""] = /^(\w+): (.+) \((.*)\)$/.exec(line) ?? [];
    return defineTool({
      ...{ name: `${domain}_${name}`, description, input: parseParameters(parameters, needsNothing), defer },
      ...{ effects: "none", reads: [], execute: () => "done" },
    });
  });
}

export function readSentences(): readonly Sentence[] {
  const queries = readDomains("queries.txt");
  return readDomains("sentences.txt").map(({ domain, line }, index) => {
    const [text = "", name = ""] = line.split(" | ");
    return { text, query: queries[index]?.line ?? "", tool: `${domain}_${name}` };
  });
}

function readDomains(file: string): readonly { readonly domain: string; readonly line: string }[] {
  const text = readFileSync(new URL(file, import.meta.url), "utf8");
  return text.split(/^# /m).flatMap((section) => {
    const [domain = "", ...lines] = section.split("\n").filter((line) => line !== "");
    return lines.map((line) => ({ domain, line }));
  });
}

/** Converts `sku, quantity:integer, tags[]?` to a schema: a list ends with `[]`, an optional parameter with `?`. */
function parseParameters(parameters: string, needsNothing: boolean): object {
  const fields = parameters.split(", ").filter((field) => field !== "");
  const properties = fields.map((field) => {
    const [, name = "", list, type = "string"] = /^(\w+)(\[\])?\??(?::(\w+))?$/.exec(field) ?? [];
    const description = `The ${name.replaceAll("_", " ")}.`;
    return [name, list ? { type: "array", items: { type }, description } : { type, description }];
  });
  const required = fields.flatMap((field) => (field.includes("?") ? [] : (field.match(/^\w+/) ?? [])));
  return { type: "object", properties: Object.fromEntries(properties), ...(!needsNothing && { required }) };
}
