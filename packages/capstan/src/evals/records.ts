// Datasets and experiments as records: the dataset in `dataset`, its cases in `dataset:<name>`; the experiment in
// `experiment`, its cases and results in `experiment:<id>`.
import { AgentError, describeThrown } from "../base/errors.ts";
import { isRecord, type Json } from "../base/json.ts";
import { type Records, updateRecord } from "../kernel/records.ts";
import { type EvalCase, readCase } from "./eval-case.ts";
import { type CaseResult, type Experiment, type Review, summarizeResults } from "./experiment.ts";

/** A named set of cases. */
export type Dataset = {
  readonly name: string;
  readonly description?: string;
  readonly createdAt: number;
  readonly updatedAt: number;
};

const datasetKind = "dataset";
const experimentKind = "experiment";
const getCaseKind = (dataset: string): string => `${datasetKind}:${dataset}`;
const getResultKind = (experiment: string): string => `${experimentKind}:${experiment}`;
const toJsonBody = (value: unknown): Json => JSON.parse(JSON.stringify(value)) as Json;

/** Names are parts of addresses, in which a dot would look like a file, and of the kinds of records. */
const namePattern = /^[\p{L}\p{N}][\p{L}\p{N} _-]{0,79}$/u;

/** Lists all datasets by name. */
export async function listDatasets(records: Records): Promise<readonly Dataset[]> {
  const stored = await records.listRecords(datasetKind);
  return stored.map(({ id, body, createdAt, updatedAt }) => toDataset(id, body, { createdAt, updatedAt }));
}

/** Loads a dataset. Rejects with `not_found`. */
export async function loadDataset(records: Records, name: string): Promise<Dataset> {
  const record = await records.getRecord(datasetKind, name);
  if (record) return toDataset(name, record.body, record);
  throw new AgentError("not_found", `There is no dataset "${name}". Create it first.`);
}

/** Creates a dataset, or changes its description. */
export async function saveDataset(
  records: Records,
  { name, description }: Pick<Dataset, "name" | "description">,
): Promise<Dataset> {
  if (!namePattern.test(name)) {
    const message = `A dataset needs a name of 1 to 80 letters, digits, spaces or dashes, not ${JSON.stringify(name)}.`;
    throw new AgentError("invalid_input", message);
  }
  const body: Json = description === undefined ? {} : { description };
  await updateRecord(records, { kind: datasetKind, id: name }, () => body);
  return loadDataset(records, name);
}

/** Removes a dataset with its cases. Experiments keep their own copies of the cases. */
export async function removeDataset(records: Records, name: string): Promise<void> {
  await loadDataset(records, name);
  for (const { id } of await records.listRecords(getCaseKind(name)))
    await updateRecord(records, { kind: getCaseKind(name), id }, () => undefined);
  await updateRecord(records, { kind: datasetKind, id: name }, () => undefined);
}

/** Loads the cases of a dataset by id. Rejects with `not_found` if there is no such dataset. */
export async function loadCases(records: Records, dataset: string): Promise<readonly EvalCase[]> {
  await loadDataset(records, dataset);
  const stored = await records.listRecords(getCaseKind(dataset));
  return stored.map(({ id, body }) => readCase(body, `Case "${id}" of the dataset "${dataset}"`));
}

/** Adds cases to a dataset, or replaces those with the same id. */
export async function saveCases(
  records: Records,
  dataset: string,
  cases: readonly EvalCase[],
): Promise<void> {
  await loadDataset(records, dataset);
  const checked = cases.map((one) => readCase(one, `The case ${JSON.stringify(one?.id)}`));
  for (const one of checked)
    await updateRecord(records, { kind: getCaseKind(dataset), id: one.id }, () => toJsonBody(one));
}

/** Removes a case. Rejects with `not_found`. */
export async function removeCase(records: Records, dataset: string, caseId: string): Promise<void> {
  if (!(await records.getRecord(getCaseKind(dataset), caseId)))
    throw new AgentError("not_found", `The dataset "${dataset}" has no case "${caseId}".`);
  await updateRecord(records, { kind: getCaseKind(dataset), id: caseId }, () => undefined);
}

/** An experiment in a listing: without its cases and results. */
export type ExperimentInfo = Omit<Experiment, "cases" | "results"> & {
  readonly caseCount: number;
  /** How the experiment was started over HTTP, so that it can be continued. */
  readonly request?: Json;
};

/** A stored experiment without a sign of life for this long is `interrupted`: its process is gone. */
export const maxSilenceMs = 60_000;

type Header = ExperimentInfo & { readonly heartbeatAt: number };

/** Stores the description of an experiment. While it runs, call it at least every `maxSilenceMs`. */
export async function saveExperimentInfo(records: Records, info: ExperimentInfo, now: number): Promise<void> {
  const header: Header = { ...info, heartbeatAt: now };
  await updateRecord(records, { kind: experimentKind, id: info.id }, () => toJsonBody(header));
}

/** Marks an interrupted experiment as running. Returns false if it is not interrupted, or another process was faster. */
export async function claimExperiment(records: Records, id: string, now: number): Promise<boolean> {
  const record = await records.getRecord(experimentKind, id);
  if (!record || toInfo(record.body, now).status !== "interrupted") return false;
  const header: Header = { ...(record.body as unknown as Header), status: "running", heartbeatAt: now };
  const claim = { kind: experimentKind, id, body: toJsonBody(header), replaces: true } as const;
  try {
    await records.putRecord(claim, record.version);
    return true;
  } catch (thrown) {
    if (describeThrown(thrown, "store_failed").code === "position_conflict") return false;
    throw thrown;
  }
}

export async function saveExperimentCases(
  records: Records,
  id: string,
  cases: readonly EvalCase[],
): Promise<void> {
  for (const one of cases)
    await updateRecord(records, { kind: getResultKind(id), id: `case:${one.id}` }, () => toJsonBody(one));
}

export async function saveResult(records: Records, id: string, result: CaseResult): Promise<void> {
  const key = { kind: getResultKind(id), id: getResultId(result) };
  await updateRecord(records, key, () => toJsonBody(result));
}

const getResultId = ({ caseId, attempt }: Pick<CaseResult, "caseId" | "attempt">): string =>
  `result:${caseId}#${attempt}`;

/** Lists all experiments, the newest first. */
export async function listExperiments(records: Records, now: number): Promise<readonly ExperimentInfo[]> {
  const stored = await records.listRecords(experimentKind);
  return stored
    .map(({ body }) => toInfo(body, now))
    .sort((left, right) => right.createdAt - left.createdAt || (left.id < right.id ? 1 : -1));
}

/** Loads an experiment with its cases and results. Rejects with `not_found`. */
export async function loadExperiment(
  records: Records,
  id: string,
  now: number,
): Promise<Experiment & Pick<ExperimentInfo, "request">> {
  const record = await records.getRecord(experimentKind, id);
  if (!record) throw new AgentError("not_found", `There is no experiment "${id}".`);
  const { caseCount: _count, ...info } = toInfo(record.body, now);
  const stored = await records.listRecords(getResultKind(id));
  const cases = stored
    .filter((one) => one.id.startsWith("case:"))
    .map(({ body }) => body as unknown as EvalCase);
  const results = stored
    .filter((one) => one.id.startsWith("result:"))
    .map(({ body }) => body as unknown as CaseResult);
  return { ...info, cases, results, summary: summarizeResults(results, info.scorers) };
}

/** Removes an experiment. Its runs stay. */
export async function removeExperiment(records: Records, id: string): Promise<void> {
  if (!(await records.getRecord(experimentKind, id)))
    throw new AgentError("not_found", `There is no experiment "${id}".`);
  for (const { id: key } of await records.listRecords(getResultKind(id)))
    await updateRecord(records, { kind: getResultKind(id), id: key }, () => undefined);
  await updateRecord(records, { kind: experimentKind, id }, () => undefined);
}

/** Stores a user's verdict on a result; `undefined` removes it. Rejects with `not_found`. */
export async function saveReview(
  records: Records,
  id: string,
  {
    caseId,
    attempt,
    review,
  }: Pick<CaseResult, "caseId" | "attempt"> & { readonly review: Review | undefined },
): Promise<void> {
  const key = { kind: getResultKind(id), id: getResultId({ caseId, attempt }) };
  if (!(await records.getRecord(key.kind, key.id)))
    throw new AgentError("not_found", `The experiment "${id}" has no attempt ${attempt} at "${caseId}".`);
  await updateRecord(records, key, (body) => {
    const { review: _earlier, ...result } = body as unknown as CaseResult;
    return toJsonBody({ ...result, ...(review && { review }) });
  });
}

/**
 * Finds the experiment to compare with: by its id, or the newest finished one of this name with this version of the
 * agent. Rejects with `not_found`.
 */
export async function findExperiment(
  records: Records,
  { name, against }: { readonly name: string; readonly against: string },
  now: number,
): Promise<Experiment> {
  const listed = await listExperiments(records, now);
  const found =
    listed.find(({ id }) => id === against) ??
    listed.find((one) => one.name === name && one.agentVersion === against && one.status === "done");
  if (found) return loadExperiment(records, found.id, now);
  const known = listed.filter((one) => one.name === name).slice(0, 5);
  const hint = known.length === 0 ? "none is stored" : `stored are ${known.map(({ id }) => id).join(", ")}`;
  const message = `No experiment of "${name}" is "${against}" or was made with that version of its agent; ${hint}.`;
  throw new AgentError("not_found", message);
}

function toDataset(
  name: string,
  body: Json,
  { createdAt, updatedAt }: Pick<Dataset, "createdAt" | "updatedAt">,
): Dataset {
  const description = isRecord(body) && typeof body.description === "string" ? body.description : undefined;
  return { name, ...(description !== undefined && { description }), createdAt, updatedAt };
}

function toInfo(body: Json, now: number): ExperimentInfo {
  const { heartbeatAt, ...info } = body as unknown as Header;
  const isGone = info.status === "running" && now - heartbeatAt > maxSilenceMs;
  return isGone ? { ...info, status: "interrupted" } : info;
}
