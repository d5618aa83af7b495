import { offline } from "capstan/models/offline";
import { conversationSuite } from "capstan/testing/conversation-suite";
import { knowledge } from "./agent.ts";
import { conversations } from "./conversations.ts";
import { createLibrary } from "./library/library.ts";

const library = createLibrary({ indexFolder: false });

conversationSuite(
  "the search assistant",
  async () => (await knowledge({ model: offline(), library }))[0],
  conversations,
);
