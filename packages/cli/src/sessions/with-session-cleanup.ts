import type { Store } from "capstan";
import type { FileLogs } from "capstan/logs/file";
import { overrideStore } from "../workspace/override-store.ts";
import { forgetFolder } from "./session-folders.ts";
import { forgetProject } from "./session-projects.ts";

/** Deletes the log files of a session, and the records that the command line has of it, with the session. */
export function withSessionCleanup(store: Store, logs: Pick<FileLogs, "remove">): Store {
  return overrideStore(store, {
    async remove(sessionId) {
      // First, so that a session whose logs cannot be deleted remains and its deletion can be repeated.
      await logs.remove(sessionId);
      await store.remove(sessionId);
      await logs.remove(sessionId); // of a run that has started in the meantime
      await forgetProject(store, sessionId);
      await forgetFolder(store, sessionId);
    },
  });
}
