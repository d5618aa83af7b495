import type { Json } from "../base/json.ts";
import type { Connection } from "./connection.ts";

/** An app that opens own data. */
export type DataLoaderInfo = {
  /** The name of its agent. */
  readonly app: string;
  /** Describes to the user what it reads. */
  readonly description: string;
  /** In lower case, such as `.csv`. */
  readonly extensions: readonly string[];
  readonly acceptsFolders: boolean;
  /** URL schemes it connects to, such as `bolt:`. */
  readonly schemes: readonly string[];
  /** Choices that the user may make, by name, with what each one means. */
  readonly settings: Readonly<Record<string, string>>;
};

/** Own data that an app was opened on. */
export type DataSourceInfo = {
  /** The name of its agent. */
  readonly id: string;
  readonly app: string;
  readonly title: string;
  readonly addedAt: number;
  /** Empty for uploaded files. Only for admins. */
  readonly locations?: readonly string[];
  readonly state: "uploading" | "loading" | "ready" | "failed";
  /** While it loads. Only for admins. */
  readonly progress?: { readonly done: number; readonly total?: number; readonly item?: string };
  /** Once it is ready. */
  readonly report?: {
    readonly counts: Readonly<Record<string, number>>;
    readonly skippedCount: number;
    /** The first of them. Only for admins. */
    readonly skipped?: readonly { readonly item: string; readonly reason: string }[];
  };
  /** After it failed. */
  readonly error?: { readonly code: string; readonly message: string };
};

/** The own data of a server. */
export type DataInfo = {
  readonly apps: readonly DataLoaderInfo[];
  readonly sources: readonly DataSourceInfo[];
  /** Whether the user may add and remove data. */
  readonly canAdd: boolean;
  /** Whether the user may name files and folders of the server's machine. */
  readonly allowsPaths: boolean;
};

export type NewDataSource = {
  readonly app: string;
  readonly title?: string;
  /** URLs, and paths where the server allows them. Without locations, call `upload` for each file, then `load`. */
  readonly locations?: readonly string[];
  readonly settings?: Readonly<Record<string, Json>>;
};

export type UploadedFile = {
  /** With `/` between folders, such as `notes/plan.md`. */
  readonly path: string;
  readonly bytes: Blob | Uint8Array;
  readonly signal?: AbortSignal;
};

/** Opens the apps of a server on own data. */
export interface DataClient {
  list(): Promise<DataInfo>;
  add(data: NewDataSource): Promise<DataSourceInfo>;
  /** Uploads a file of a source that was added without locations. */
  upload(dataId: string, file: UploadedFile): Promise<void>;
  /** Starts to load: after an upload, or again after a failure. `list` has the progress. */
  load(dataId: string): Promise<DataSourceInfo>;
  /** Forgets the data, and deletes its uploaded files. Sessions are kept. */
  remove(dataId: string): Promise<void>;
}

/** Uploads take as long as the network needs. */
const uploadTimeoutMs = 600_000;

export function createDataClient({ request }: Connection): DataClient {
  const getPath = (dataId: string) => `/api/data/${encodeURIComponent(dataId)}`;
  const getFilePath = (dataId: string, path: string) =>
    `${getPath(dataId)}/files/${path.split("/").map(encodeURIComponent).join("/")}`;
  return {
    list: () => request({ method: "GET", path: "/api/data" }),
    add: (data) =>
      request({ method: "POST", path: "/api/data", body: data, isIdempotent: data.locations !== undefined }),
    async upload(dataId, file) {
      const path = getFilePath(dataId, file.path);
      await request({ ...file, method: "PUT", path, isIdempotent: true, timeoutMs: uploadTimeoutMs });
    },
    load: (dataId) => request({ method: "POST", path: `${getPath(dataId)}/load`, isIdempotent: true }),
    async remove(dataId) {
      await request({ method: "DELETE", path: getPath(dataId), isIdempotent: true });
    },
  };
}
