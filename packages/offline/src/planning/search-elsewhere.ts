import { citeSources, collectSources, filterSources } from "../answers/cite-sources.ts";
import { isEmptyResult } from "../answers/describe-result.ts";
import { toQuestion } from "../answers/to-question.ts";
import { type CallRecord, isNewCall } from "../dialog/call-records.ts";
import { getData } from "../dialog/collect-results.ts";
import { hasTemplateMatch } from "../matching/match-tool.ts";
import { isReadOnly } from "../matching/score-tool.ts";
import { findQueryName, takesAnything } from "../matching/search-tool.ts";
import type { PlanContext, Step } from "./step.ts";

/**
 * Searches with another tool for a question that the search for any text did not answer. A request that matches an
 * example, such as "search the docs for …", gets that search only.
 */
export function searchElsewhere(plan: PlanContext): Step | undefined {
  const { request, records } = plan;
  const [first, ...others] = records;
  const tool = request.tools.find(({ name }) => name === first?.call.name);
  const query = tool && findQueryName(tool);
  if (!first || !tool || query === undefined || !takesAnything(tool)) return undefined;
  const text = first.call.input[query];
  const isCertain = plan.interpretation.intents.some(({ match }) => hasTemplateMatch(match));
  if (typeof text !== "string" || isCertain || others.some(({ call }) => call.input[query] !== text))
    return undefined;
  if (!records.every((record) => isFruitless(record, plan))) return undefined;
  for (const other of request.tools) {
    const name = isReadOnly(other, request.tools) ? findQueryName(other) : undefined;
    const call = { name: other.name, input: { [name ?? ""]: text } };
    const made = records.map((record) => record.call);
    if (name === query && !made.some((past) => past.name === other.name) && isNewCall(call, made))
      return { type: "call", calls: [call], why: `${other.name} may find what ${first.call.name} did not.` };
  }
  return undefined;
}

/** True for a search without results, or with none that answers the question. */
function isFruitless({ call, result }: CallRecord, { request, interpretation }: PlanContext): boolean {
  if (result?.status !== "ok") return false;
  const data = getData(result);
  if (data !== undefined && isEmptyResult(data)) return true;
  const found = filterSources(result, collectSources(request));
  return found.length > 0 && citeSources(toQuestion(call, interpretation.text, request.tools), found) === "";
}
