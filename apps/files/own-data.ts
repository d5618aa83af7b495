// Opens the app on any folder: `capstan app files ~/project`, or a folder dropped into the studio.
import { statSync } from "node:fs";
import { dirname, join, sep } from "node:path";
import type { DataLoader, LoadRequest } from "@capstan/server";
import { isGitRepository, surveyFolder } from "@capstan/tools";
import { AgentError, type Model } from "capstan";
import { files } from "./agent.ts";

/** Defaults to the same model as the app. */
export type FolderLoaderOptions = { readonly model?: Model | string };

export function folderLoader(options: FolderLoaderOptions = {}): DataLoader {
  return {
    description: "a folder with any files",
    extensions: [],
    acceptsFolders: true,
    async load(request) {
      const { name, title, folder, signal } = request;
      const root = findRoot(request);
      const survey = await surveyFolder({
        ...{ root, signal },
        onProgress: (done, item) => request.onProgress({ done, item }),
      });
      // The earlier contents are removed together with the data.
      const undoFolder = join(folder, "undo");
      const suggestions = [
        "What files are there?",
        "Search for TODO in all files",
        ...((await isGitRepository(root)) ? ["What has changed since the last commit?"] : []),
        "Undo the last change",
      ];
      return {
        agents: [await files({ ...options, name, root, undoFolder, studio: true })],
        profile: {
          title: `Files in ${title}`,
          description: `Lists, searches, reads and changes the files in ${title}.`,
          suggestions,
        },
        report: () => ({ counts: { files: survey.files }, skipped: survey.skipped }),
      };
    },
  };
}

/** The folder that the user named, or the one that uploaded files were copied to. */
function findRoot({ locations, folder }: LoadRequest): string {
  const [first = "", ...others] = locations;
  if (others.length === 0 && statSync(first, { throwIfNoEntry: false })?.isDirectory()) return first;
  if (first.startsWith(folder + sep)) return dirname(first);
  throw new AgentError("invalid_input", "This app opens one folder at a time: name one folder.");
}
