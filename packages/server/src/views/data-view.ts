import type { DataInfo, DataLoaderInfo, DataSourceInfo } from "capstan/client";
import type { Caller } from "../access/caller.ts";
import type { OwnDataAccess } from "../deployment.ts";
import { hidePassword } from "../own-data/check-locations.ts";
import type { DataSource } from "../own-data/data-source.ts";

/** More would make the response large; `skippedCount` has their number. */
const maxSkipped = 500;

/** Describes own data to a caller. Admins also see where it comes from and what went wrong. */
export async function buildDataView(
  ownData: OwnDataAccess | undefined,
  { isAdmin }: Caller,
): Promise<DataInfo> {
  if (!ownData) return { apps: [], sources: [], canAdd: false, allowsPaths: false };
  const { data, allowsPaths } = ownData;
  const apps = Object.entries(data.loaders).map(
    ([app, { description, extensions, acceptsFolders, schemes = [], settings = {} }]): DataLoaderInfo => ({
      ...{ app, description, extensions, acceptsFolders, schemes, settings },
    }),
  );
  const sources = (await data.list()).map((source) => buildSourceView(source, { isAdmin }));
  return { apps, sources, canAdd: isAdmin, allowsPaths: isAdmin && allowsPaths };
}

export function buildSourceView(source: DataSource, { isAdmin }: Pick<Caller, "isAdmin">): DataSourceInfo {
  const { name, app, title, addedAt, locations, state } = source;
  return {
    ...{ id: name, app, title, addedAt },
    ...(isAdmin && { locations: locations.map(hidePassword) }),
    ...describeState(state, isAdmin),
  };
}

type StateInfo = Pick<DataSourceInfo, "state" | "progress" | "report" | "error">;

function describeState(state: DataSource["state"], isAdmin: boolean): StateInfo {
  switch (state.type) {
    case "uploading":
      return { state: "uploading" };
    case "waiting":
      return { state: "loading" };
    case "loading":
      return { state: "loading", ...(state.progress && isAdmin && { progress: state.progress }) };
    case "ready": {
      const { counts, skipped } = state.loaded.report();
      const shown = isAdmin ? { skipped: skipped.slice(0, maxSkipped) } : {};
      return { state: "ready", report: { counts, skippedCount: skipped.length, ...shown } };
    }
    case "failed": {
      const { code, message } = state.error;
      return {
        state: "failed",
        error: { code, message: isAdmin ? message : "The data could not be loaded." },
      };
    }
  }
}
