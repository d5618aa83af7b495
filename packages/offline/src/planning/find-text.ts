import { isRecord, type ToolSpec, toPlainText } from "capstan";
import { isNewCall } from "../dialog/call-records.ts";
import type { FillResult, Input } from "../dialog/fill-arguments.ts";
import { isPathName } from "../language/read-value.ts";
import { toNameStems } from "../language/words.ts";
import { getProperties } from "../matching/properties.ts";
import { isSearchTool } from "../matching/search-tool.ts";
import type { PlanContext, Step } from "./step.ts";

/** The input of a change with the path of the only file that has the text to replace, or the step that finds it. */
export type TextSearch = { readonly input: Input } | { readonly step: Step };

/** Searches the files for the text to replace if the user did not name the file. */
export function findText({ input, missing }: FillResult, plan: PlanContext): TextSearch | undefined {
  const { request, records } = plan;
  const [property, ...others] = missing;
  const [edit] = Object.values(input).flatMap((value) =>
    Array.isArray(value) ? value.filter(isRecord) : [],
  );
  const text = edit && Object.entries(edit).find(([key]) => /find|old|search/iu.test(key))?.[1];
  const search = request.tools.find((tool) => isSearchTool(tool) && findQuery(tool) !== undefined);
  const query = search && findQuery(search);
  if (!property || others.length > 0 || !isPathName(property.name) || !search || query === undefined)
    return undefined;
  if (typeof text !== "string" || text === "") return undefined;
  const call = { name: search.name, input: { [query]: text } };
  const searched = records.find((made) => !isNewCall(call, [made.call]));
  if (!searched)
    return { step: { type: "call", calls: [call], why: `The files are searched for "${text}".` } };
  const lines = searched.result ? toPlainText(searched.result.content).split("\n") : [];
  const paths = [...new Set(lines.flatMap((line) => /^(\S+?):\d+: /u.exec(line)?.[1] ?? []))];
  const [path] = paths;
  if (path === undefined) return { step: { type: "tell", text: `I found nothing for "${text}".` } };
  if (paths.length > 1)
    return { step: { type: "which", phrase: text, candidates: paths.map((one) => ({ path: one })) } };
  return { input: { ...input, [property.name]: path } };
}

/** The only required argument of a tool that searches files. */
function findQuery(tool: ToolSpec): string | undefined {
  const [first, ...others] = getProperties(tool).filter(({ required }) => required);
  const isAboutFiles = toNameStems(tool.name).includes("file");
  return isAboutFiles && first?.type === "string" && others.length === 0 ? first.name : undefined;
}
