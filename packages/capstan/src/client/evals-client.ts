import type {
  CaseCorrection,
  CaseFormat,
  Comparison,
  Dataset,
  EvalCase,
  Experiment,
  ExperimentInfo,
  ScorerData,
  ToolMode,
} from "../evals/index.ts";
import { type Connection, createConnection } from "./connection.ts";
import type { ClientOptions } from "./create-client.ts";
import { createEnvironment } from "./environment.ts";

/** A dataset with its cases. */
export type DatasetDetails = { readonly dataset: Dataset; readonly cases: readonly EvalCase[] };

export type NewExperiment = {
  readonly dataset: string;
  readonly agent: string;
  /** The version of a stored agent. */
  readonly version?: number;
  readonly scorers: readonly ScorerData[];
  readonly attempts?: number;
  readonly concurrency?: number;
  readonly tools?: Readonly<Record<string, ToolMode>>;
  readonly approvals?: "simulated" | "all" | "none";
};

/** The verdict of a user on a result; without `passed`, it is removed. */
export type NewReview = {
  readonly caseId: string;
  readonly attempt: number;
  readonly passed?: boolean;
  readonly note?: string;
};

/** Datasets of a server. Admins only. */
export interface DatasetsClient {
  list(): Promise<readonly Dataset[]>;
  get(name: string): Promise<DatasetDetails>;
  /** Creates a dataset, or changes its description. */
  save(name: string, description?: string): Promise<Dataset>;
  remove(name: string): Promise<void>;
  importCases(name: string, file: { readonly format: CaseFormat; readonly text: string }): Promise<number>;
  saveCase(name: string, evalCase: EvalCase): Promise<EvalCase>;
  /** Saves a run as a case, with the right answer if its own is wrong. */
  saveRun(name: string, runId: string, correction?: CaseCorrection): Promise<EvalCase>;
  removeCase(name: string, caseId: string): Promise<void>;
}

/** Experiments of a server. Admins only. */
export interface ExperimentsClient {
  list(dataset?: string): Promise<readonly ExperimentInfo[]>;
  get(id: string): Promise<Experiment>;
  start(experiment: NewExperiment): Promise<ExperimentInfo>;
  cancel(id: string): Promise<void>;
  resume(id: string): Promise<ExperimentInfo>;
  remove(id: string): Promise<void>;
  review(id: string, review: NewReview): Promise<void>;
  /** Compares an experiment with an earlier one. */
  compare(id: string, earlierId: string): Promise<Comparison>;
}

/** Client of the datasets and experiments of a server, for admins. */
export interface EvalsClient {
  readonly datasets: DatasetsClient;
  readonly experiments: ExperimentsClient;
}

/** Creates a client for evals, apart from `createClient`: most pages need none. */
export function createEvalsClient(options: ClientOptions = {}): EvalsClient {
  const server = createConnection(options, createEnvironment(options));
  return { datasets: createDatasetsClient(server), experiments: createExperimentsClient(server) };
}

function createDatasetsClient({ request }: Connection): DatasetsClient {
  const getPath = (name: string) => `/api/datasets/${encodeURIComponent(name)}`;
  const getCasePath = (name: string, caseId: string) =>
    `${getPath(name)}/cases/${encodeURIComponent(caseId)}`;
  return {
    list: async () =>
      (await request<{ datasets: readonly Dataset[] }>({ method: "GET", path: "/api/datasets" })).datasets,
    get: (name) => request({ method: "GET", path: getPath(name) }),
    save: (name, description) =>
      request({
        ...{ method: "PUT", path: getPath(name), isIdempotent: true },
        body: description === undefined ? {} : { description },
      }),
    async remove(name) {
      await request({ method: "DELETE", path: getPath(name), isIdempotent: true });
    },
    async importCases(name, file) {
      const path = `${getPath(name)}/import`;
      return (await request<{ imported: number }>({ method: "POST", path, body: file, isIdempotent: true }))
        .imported;
    },
    saveCase: (name, { id, ...body }) =>
      request({ method: "PUT", path: getCasePath(name, id), body, isIdempotent: true }),
    saveRun: (name, runId, { id: caseId, ...correction } = {}) =>
      request({
        ...{ method: "POST", path: `${getPath(name)}/cases`, isIdempotent: true },
        body: { runId, ...(caseId !== undefined && { caseId }), ...correction },
      }),
    async removeCase(name, caseId) {
      await request({ method: "DELETE", path: getCasePath(name, caseId), isIdempotent: true });
    },
  };
}

function createExperimentsClient({ request }: Connection): ExperimentsClient {
  const getPath = (id: string) => `/api/experiments/${encodeURIComponent(id)}`;
  return {
    list: async (dataset) =>
      (
        await request<{ experiments: readonly ExperimentInfo[] }>({
          ...{ method: "GET", path: "/api/experiments" },
          query: dataset === undefined ? {} : { dataset },
        })
      ).experiments,
    get: (id) => request({ method: "GET", path: getPath(id) }),
    start: (experiment) => request({ method: "POST", path: "/api/experiments", body: experiment }),
    async cancel(id) {
      await request({ method: "POST", path: `${getPath(id)}/cancel` });
    },
    resume: (id) => request({ method: "POST", path: `${getPath(id)}/resume` }),
    async remove(id) {
      await request({ method: "DELETE", path: getPath(id), isIdempotent: true });
    },
    async review(id, review) {
      await request({ method: "POST", path: `${getPath(id)}/reviews`, body: review, isIdempotent: true });
    },
    compare: (id, earlierId) =>
      request({ method: "GET", path: `${getPath(id)}/comparison/${encodeURIComponent(earlierId)}` }),
  };
}
