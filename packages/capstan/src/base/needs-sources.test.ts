import { expect, it } from "vitest";
import { needsSources } from "./needs-sources.ts";

it.each([
  "What's 2+2?",
  "what is 20% of 150",
  "How much is 12 times 12?",
  "3 * (4 - 1) =",
  "Wie viel ist 7 mal 8?",
  "Hello!",
  "Good morning, everyone",
  "thanks a lot for your help",
  "Merci beaucoup !",
  "How are you?",
  "shorter please",
  "can you make it a bit shorter?",
  "In German",
  "translate that into French, please",
  "why?",
  "are you sure?",
])("%j needs no source (S3-37)", (message) => {
  expect(needsSources(message)).toBe(false);
});

it.each([
  "What is hono?",
  "What's new in version 2.2?",
  "What is 1984?",
  "Which hotels cost 100 + tax?",
  "Thanks! And who maintains zod?",
  "How much may a hotel cost in Oslo?",
  "Good morning. What does the budget mail say?",
  "the help",
  "why does the run stop?",
  "in German law, what is a GmbH?",
  "summarize the budget mails",
  "",
  `2+2${" +2".repeat(100)}`,
])("%j needs sources (S3-05)", (message) => {
  expect(needsSources(message)).toBe(true);
});
