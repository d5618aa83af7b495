import { expect, it } from "vitest";
import { classifyReply } from "./classify-reply.ts";

it.each([
  ["Which gate do you mean: A15 or D15?", "ask"],
  ["I did not understand that. What are you looking for?", "ask"],
  ["You could say “find sushi”.", "ask"],
  ["Sorry, I cannot help with that.", "decline"],
  ['No results for "salary".', "decline"],
  ["I understand English only. You can ask:\n- Find sushi\n- Show it on the map", "decline"],
  ['Nothing for "chapel" is recorded.', "decline"],
  ["", "claim"],
  ["Hello.", "claim"],
  ["Ben owns Mittens.", "claim"],
  ["No files found.", "claim"],
  ["There are no notes.", "claim"],
  ["The capital of Peru is Lima. Shall I show it?", "claim"],
  ["I cannot help with that. The note is deleted.", "claim"],
  ["I need to know the query. Which one: nodeCount or edgeCount?", "claim"],
  ['I did not find "load_config".', "decline"],
])("classifies %j as %s", (text, kind) => {
  expect(classifyReply(text)).toBe(kind);
});
