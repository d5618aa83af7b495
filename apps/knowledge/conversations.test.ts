import { offline } from "capstan/models/offline";
import { conversationSuite } from "capstan/testing/conversation-suite";
import { knowledge } from "./agent.ts";
import { talks } from "./conversations.ts";
import { library } from "./library/library.ts";

const shelf = library({ keptIn: false });

conversationSuite(
  "the search assistant",
  async () => (await knowledge({ model: offline(), library: shelf }))[0],
  talks,
);
