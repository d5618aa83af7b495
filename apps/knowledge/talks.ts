// What people ask a search assistant. Everything here can be answered from packages that the lockfile pins, from the
// docs of this project, or from the fictional mailbox.

import type { Talk } from "capstan/testing/talks-suite";

const cites = /\[\d+\]/;
const searched: readonly [string] = ["search_knowledge_base"];
const unable = /cannot|can't|could not|nothing|no passage|not found|no document|no source/i;

export const talks: readonly Talk[] = [
  [{ says: "How do I validate data with zod?", calls: [searched], answers: ["parse", cites] }],
  [{ says: "What is zod?", calls: [searched], answers: [/TypeScript-first validation library/, cites] }],
  [{ says: "waht is zod", calls: [searched], answers: [/validation/, cites] }],
  [{ says: "How do I handle errors in zod?", calls: [searched], answers: [/ZodError|safeParse/, cites] }],
  [
    {
      says: "search for maxBufferSize",
      calls: [["search_knowledge_base", { query: "maxBufferSize" }]],
      answers: ["maxBufferSize", cites],
    },
    { says: "what about onRetry?", calls: [searched], answers: [/retry/i, cites] },
  ],
  [
    {
      says: "Find documentation about property based testing",
      calls: [searched],
      answers: [/propert/i, cites],
    },
    { says: "Open the first one", calls: [["get_document"]], answers: [/propert/i] },
    { says: "thanks", answers: [/welcome/i] },
  ],
  [{ says: "What does hono run on?", calls: [searched], answers: [/Cloudflare|Deno|Bun|Node/, cites] }],
  [{ says: "How can I detect broken connections with ws?", calls: [searched], answers: [/ping/i, cites] }],
  [{ says: "how do i persist a zustand store", calls: [searched], answers: [/persist/i, cites] }],
  [{ says: "How do I redact sensitive data in pino logs?", calls: [searched], answers: [/redact/i, cites] }],
  [{ says: "Look up transports in pino", calls: [searched], answers: [/transport/i, cites] }],
  [{ says: "What is Nano ID?", calls: [searched], answers: [/ID generator|unique/i, cites] }],
  [{ says: "Does valibot have dependencies?", calls: [searched], answers: [/dependenc/i, cites] }],
  [{ says: "What do the docs say about handoffs?", calls: [searched], answers: [/hand/i, cites] }],
  [
    {
      says: "What is a nested run in Capstan?",
      calls: [searched],
      answers: [/run of an agent|nested/i, cites],
    },
    { says: "and what is a lease?", calls: [searched], answers: [/right to write|lease/i, cites] },
  ],
  [{ says: "How long is a tool result cached? Search for cacheMs.", answers: [/cache/i, cites] }],
  [
    {
      says: "which event comes when a handoff is denied",
      calls: [searched],
      answers: ["handoff_denied", cites],
    },
  ],
  [
    {
      says: "Find 2 passages about compaction",
      calls: [["search_knowledge_base", { limit: 2 }]],
      answers: [cites],
    },
    { says: "Show me the second one", calls: [["get_document"]] },
  ],
  [{ says: "Open the document zod", calls: [["get_document", { id: "zod" }]], answers: [/zod/i] }],
  [
    {
      says: "Show the section Basic usage of the document zod",
      calls: [["get_document", { id: "zod", section: "Basic usage" }]],
      answers: [/schema/i],
    },
  ],
  [{ says: "Open the document no-such-package", calls: [["get_document"]], answers: [/no document/i] }],
  [
    {
      says: "Summarize recent emails about budget",
      calls: [
        ["search_email", { query: "budget" }],
        ["search_email", { query: "budget", page: 2 }],
      ],
      answers: ["[1]", "[2]", "[3]", "[4]", "[5]"],
    },
  ],
  [
    {
      says: "Search my emails for the venue",
      calls: [["search_email"]],
      answers: [/venue|boathouse/i, cites],
    },
    { says: "what about the train?", calls: [["search_email"]], answers: [/train/i, cites] },
  ],
  [{ says: "any mail from Ines Duarte?", calls: [["search_email"]], answers: ["Ines Duarte", cites] }],
  [{ says: "do I have any emails from Submariners?", calls: [["search_email"]], never: [".)."] }],
  [
    {
      says: "what did Ines write about the budget?",
      calls: [["search_email"]],
      answers: ["Ines Duarte", cites],
    },
  ],
  [{ says: "emials about bugdet", calls: [["search_email"]], never: [/failed/i] }],
  [{ says: "Is there a mail about submarines?", calls: [["search_email"]], answers: [/no mail|nothing/i] }],
  [
    { says: "Who maintains hono?", calls: [["search_people"]], answers: ["Yusuke Wada"] },
    { says: "And who wrote valibot?", calls: [["search_people"]], answers: ["Fabian Hiller"] },
  ],
  [{ says: "Hi there, who made nanoid?", calls: [["search_people"]], answers: ["Andrey Sitnik"] }],
  [{ says: "Find the people behind pino", calls: [["search_people"]], answers: ["Matteo Collina"] }],
  [{ says: "Which packages does Colin McDonnell write?", calls: [["search_people"]], answers: ["zod"] }],
  [{ says: "what packages did Matteo Collina write?", calls: [["search_people"]], answers: ["pino"] }],
  [{ says: "who is the autor of fast-check", calls: [["search_people"]], answers: [/Nicolas DUBIEN/i] }],
  [
    {
      says: "Compare how zod and valibot parse data",
      // A handoff is over when the specialist has answered.
      calls: [searched, ["handoff", { agent: "research-agent" }]],
      answers: [/zod/i, /valibot/i, cites],
    },
  ],
  [
    {
      says: "What is the difference between uuid and nanoid?",
      answers: [/uuid/i, /nano/i, cites],
    },
  ],
  [{ says: "Ask an agent what hono is", calls: [["ask_agent"]], answers: [/hono/i] }],
  [
    {
      says: "Search for zod's safeParse and find out who maintains zod",
      calls: [searched, ["search_people"]],
      answers: [/safeParse/, "Colin McDonnell", cites],
    },
  ],
  [{ says: "How do I calibrate a flux zorgulator?", answers: [unable] }],
  [{ says: "Delete the document zod", never: [/^deleted|(?:is|was|has been|have) deleted/i] }],
  [{ says: "Send Ines an email that the budget is fine", never: [/\b(?:sent|sending)\b/i] }],
  [{ says: "Hello", answers: [/hello|search|help/i] }],
  [{ says: "What can you do?", answers: [/search/i] }],
  [{ says: "Are you a real AI?", answers: [/offline|rules/i] }],
  [{ says: '"Limiting buffered memory"', calls: [searched], answers: [/buffer/i, cites] }],
  [{ says: 'search for AND OR NOT "unclosed (', calls: [searched], never: [/failed|syntax/i] }],
  [
    {
      says: "Summarize the budget emails",
      calls: [
        ["search_email", { query: "budget" }],
        ["search_email", { query: "budget", page: 2 }],
      ],
      answers: ["[1]", "[5]"],
    },
  ],
  [
    {
      says: "Did anyone email me about the travel budget?",
      calls: [["search_email", { query: "travel budget" }]],
      answers: ["Tomas Brandt", "5,300", cites],
    },
  ],
  [{ says: "show me my emails", calls: [["search_email"]], answers: ["Ines Duarte", "Tomas Brandt", cites] }],
  [
    {
      says: "what did the last email say",
      calls: [["search_email", { limit: 1 }]],
      answers: ["2026-06-18", "approved", cites],
      never: ["2026-06-11"],
    },
  ],
  [{ says: "Who works on playwright?", calls: [["search_people"]], answers: ["Microsoft"] }],
  [{ says: "Who created typescript?", calls: [["search_people"]], answers: ["Microsoft"] }],
  [{ says: "Find me docs about sqlite", calls: [searched], answers: [/sqlite/i, cites] }],
  [{ says: "what is a good name for a dog?", calls: [searched], answers: [unable], never: [cites] }],
  [{ says: "who won the world cup in 1998?", answers: [unable], never: ["Did you mean", cites] }],
];
