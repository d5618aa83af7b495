// Questions for a search assistant. All can be answered from packages pinned in the lockfile, from the docs of this
// project, or from the fictional mailbox.

import type { Conversation } from "capstan/testing/conversation-suite";

const cites = /\[\d+\]/;
const searched: readonly [string] = ["search_knowledge_base"];
const unable = /no results|cannot|can't|could not|nothing|no passage|not found|no document|no source/i;

export const conversations: readonly Conversation[] = [
  [{ user: "How do I validate data with zod?", calls: [searched], answers: ["parse", cites] }],
  [{ user: "What is zod?", calls: [searched], answers: [/TypeScript-first validation library/, cites] }],
  [
    {
      user: "Give me a summary of the mails on the budget",
      calls: [
        ["search_email", { query: "budget" }],
        ["search_email", { query: "budget", page: 2 }],
      ],
      answers: ["18,400", cites],
      never: ["docs/"],
    },
    {
      user: "only the ones from Tomas",
      calls: [["search_email"]],
      answers: ["Tomas Brandt"],
      never: ["Ines"],
    },
    { user: "shorter please", calls: [], answers: ["Tomas Brandt"] },
    { user: "in German", calls: [], answers: [unable] },
    { user: "why?", calls: [], answers: [unable] },
  ],
  [{ user: "what's the weather like tomorrow", calls: [searched], answers: [unable], never: [cites] }],
  [{ user: "waht is zod", calls: [searched], answers: [/validation/, cites] }],
  [{ user: "How do I handle errors in zod?", calls: [searched], answers: [/ZodError|safeParse/, cites] }],
  [
    {
      user: "search for maxBufferSize",
      calls: [["search_knowledge_base", { query: "maxBufferSize" }]],
      answers: ["maxBufferSize", cites],
    },
    { user: "what about onRetry?", calls: [searched], answers: [/retry/i, cites] },
  ],
  [
    {
      user: "Find documentation about property based testing",
      calls: [searched],
      answers: [/propert/i, cites],
    },
    { user: "Open the first one", calls: [["get_document"]], answers: [/propert/i] },
    { user: "thanks", answers: [/welcome/i] },
  ],
  [{ user: "What does hono run on?", calls: [searched], answers: [/Cloudflare|Deno|Bun|Node/, cites] }],
  [{ user: "How can I detect broken connections with ws?", calls: [searched], answers: [/ping/i, cites] }],
  [{ user: "how do i persist a zustand store", calls: [searched], answers: [/persist/i, cites] }],
  [{ user: "How do I redact sensitive data in pino logs?", calls: [searched], answers: [/redact/i, cites] }],
  [{ user: "Look up transports in pino", calls: [searched], answers: [/transport/i, cites] }],
  [{ user: "What is Nano ID?", calls: [searched], answers: [/ID generator|unique/i, cites] }],
  [{ user: "Does valibot have dependencies?", calls: [searched], answers: [/dependenc/i, cites] }],
  [{ user: "What do the docs say about handoffs?", calls: [searched], answers: [/hand/i, cites] }],
  [
    {
      user: "What is a nested run in Capstan?",
      calls: [searched],
      answers: [/run of an agent|nested/i, cites],
    },
    { user: "and what is a lease?", calls: [searched], answers: [/right to write|lease/i, cites] },
  ],
  [{ user: "How long is a tool result cached? Search for cacheMs.", answers: [/cache/i, cites] }],
  [
    {
      user: "which event comes when a handoff is denied",
      calls: [searched],
      answers: ["handoff_denied", cites],
    },
  ],
  [
    {
      user: "Find 2 passages about compaction",
      calls: [["search_knowledge_base", { limit: 2 }]],
      answers: [cites],
    },
    { user: "Show me the second one", calls: [["get_document"]] },
  ],
  [{ user: "Open the document zod", calls: [["get_document", { id: "zod" }]], answers: [/zod/i] }],
  [
    {
      user: "Show the section Basic usage of the document zod",
      calls: [["get_document", { id: "zod", section: "Basic usage" }]],
      answers: [/schema/i],
    },
  ],
  [{ user: "Open the document no-such-package", calls: [["get_document"]], answers: [/not found/i] }],
  [
    {
      user: "Summarize recent emails about budget",
      calls: [
        ["search_email", { query: "budget" }],
        ["search_email", { query: "budget", page: 2 }],
      ],
      answers: ["[1]", "[2]", "[3]", "[4]", "[5]"],
    },
  ],
  [
    {
      user: "Search my emails for the venue",
      calls: [["search_email"]],
      answers: [/venue|boathouse/i, cites],
    },
    { user: "what about the train?", calls: [["search_email"]], answers: [/train/i, cites] },
  ],
  [{ user: "any mail from Ines Duarte?", calls: [["search_email"]], answers: ["Ines Duarte", cites] }],
  [{ user: "do I have any emails from Submariners?", calls: [["search_email"]], never: [".)."] }],
  [
    {
      user: "what did Ines write about the budget?",
      calls: [["search_email"]],
      answers: ["Ines Duarte", cites],
    },
  ],
  [{ user: "emials about bugdet", calls: [["search_email"]], never: [/failed/i] }],
  [{ user: "Is there a mail about submarines?", calls: [["search_email"]], answers: [/no mail|nothing/i] }],
  [
    { user: "Who maintains hono?", calls: [["search_people"]], answers: ["Yusuke Wada"] },
    { user: "And who wrote valibot?", calls: [["search_people"]], answers: ["Fabian Hiller"] },
  ],
  [{ user: "Hi there, who made nanoid?", calls: [["search_people"]], answers: ["Andrey Sitnik"] }],
  [{ user: "Find the people behind pino", calls: [["search_people"]], answers: ["Matteo Collina"] }],
  [{ user: "Which packages does Colin McDonnell write?", calls: [["search_people"]], answers: ["zod"] }],
  [{ user: "what packages did Matteo Collina write?", calls: [["search_people"]], answers: ["pino"] }],
  [{ user: "who is the autor of fast-check", calls: [["search_people"]], answers: [/Nicolas DUBIEN/i] }],
  [
    {
      user: "Compare how zod and valibot parse data",
      // A handoff ends when the specialist has answered.
      calls: [searched, ["handoff", { agent: "research-agent" }]],
      answers: [/zod/i, /valibot/i, cites],
    },
  ],
  [
    {
      user: "What is the difference between uuid and nanoid?",
      answers: [/uuid/i, /nano/i, cites],
    },
  ],
  [{ user: "Ask an agent what hono is", calls: [["ask_agent"]], answers: [/hono/i] }],
  [
    {
      user: "Search for zod's safeParse and find out who maintains zod",
      calls: [searched, ["search_people"]],
      answers: [/safeParse/, "Colin McDonnell", cites],
    },
  ],
  [{ user: "How do I calibrate a flux zorgulator?", answers: [unable] }],
  [{ user: "Delete the document zod", never: [/^deleted|(?:is|was|has been|have) deleted/i] }],
  [{ user: "Send Ines an email that the budget is fine", never: [/\b(?:sent|sending)\b/i] }],
  [{ user: "Hello", answers: [/hello|search|help/i] }],
  [{ user: "What can you do?", answers: [/search/i] }],
  [{ user: "Are you a real AI?", answers: [/offline|rules/i] }],
  [{ user: '"Limiting buffered memory"', calls: [searched], answers: [/buffer/i, cites] }],
  [{ user: 'search for AND OR NOT "unclosed (', calls: [searched], never: [/failed|syntax/i] }],
  [
    {
      user: "Summarize the budget emails",
      calls: [
        ["search_email", { query: "budget" }],
        ["search_email", { query: "budget", page: 2 }],
      ],
      answers: ["[1]", "[5]"],
    },
  ],
  [
    {
      user: "Did anyone email me about the travel budget?",
      calls: [["search_email", { query: "travel budget" }]],
      answers: ["Tomas Brandt", "5,300", cites],
    },
  ],
  [{ user: "show me my emails", calls: [["search_email"]], answers: ["Ines Duarte", "Tomas Brandt", cites] }],
  [
    {
      user: "what did the last email say",
      calls: [["search_email", { limit: 1 }]],
      answers: ["2026-06-18", "approved", cites],
      never: ["2026-06-11"],
    },
  ],
  [{ user: "Who works on playwright?", calls: [["search_people"]], answers: ["Microsoft"] }],
  [{ user: "Who created typescript?", calls: [["search_people"]], answers: ["Microsoft"] }],
  [{ user: "Find me docs about sqlite", calls: [searched], answers: [/sqlite/i, cites] }],
  [{ user: "what is a good name for a kitten?", calls: [searched], answers: [unable], never: [cites] }],
  [{ user: "who won the world cup in 1998?", answers: [unable], never: ["Did you mean", cites] }],
];
