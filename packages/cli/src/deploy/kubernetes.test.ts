import { checkTypes } from "@capstan/verification/check-types";
import { describe, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { findInstructions, getVariables, parseContainerFile } from "../testing/deploy/container-file.ts";
import { readKitFile } from "../testing/deploy/kit-files.ts";

type Manifest = { readonly apiVersion: string; readonly kind: string; readonly [field: string]: unknown };

// biome-ignore lint/suspicious/noExplicitAny: the compiler checks the manifests below
const manifests: any[] = parseAllDocuments(readKitFile("kubernetes.yaml")).map((document) => document.toJS());
const find = (kind: string) => manifests.find((manifest) => manifest.kind === kind);
const { spec } = find("Deployment");
const pod = spec.template.spec;
const [container] = pod.containers;

/** Imports the type of each kind from the module of its API version. */
function buildPrelude(kinds: readonly Manifest[]): string {
  return kinds
    .map(({ apiVersion, kind }) => {
      const [group = "", version] = apiVersion.includes("/") ? apiVersion.split("/") : ["core", apiVersion];
      return `import type { ${kind} } from "kubernetes-types/${group.split(".")[0]}/${version}.js";`;
    })
    .join("\n");
}

const checkManifests = (values: readonly Manifest[]) =>
  checkTypes(
    buildPrelude(manifests),
    values.map((value) => ({ type: value.kind, value })),
  );

describe("the Kubernetes manifests", () => {
  it("have the types of the Kubernetes API, and a wrong field is found", async () => {
    const deployment = structuredClone(find("Deployment"));
    deployment.spec.template.spec.containers[0].readynessProbe = {};
    const service = structuredClone(find("Service"));
    service.spec.ports[0].port = "80";
    const problems = await checkManifests([...manifests, deployment, service]);
    expect(problems.map(({ index }) => index)).toEqual([manifests.length, manifests.length + 1]);
    expect(problems[0]?.message).toContain("readynessProbe");
    expect(manifests.map(({ kind }) => kind)).toEqual([
      ...["Deployment", "Service", "PodDisruptionBudget", "HorizontalPodAutoscaler", "Ingress"],
    ]);
  });

  it("select the pods, and reach the port of the container", () => {
    const { labels } = spec.template.metadata;
    expect(spec.selector.matchLabels).toEqual(labels);
    expect(find("Service").spec.selector).toEqual(labels);
    expect(find("PodDisruptionBudget").spec.selector.matchLabels).toEqual(labels);
    const { name, kind } = find("HorizontalPodAutoscaler").spec.scaleTargetRef;
    expect(find(kind).metadata.name).toBe(name);
    const [port] = container.ports;
    const [servicePort] = find("Service").spec.ports;
    expect(servicePort.targetPort).toBe(port.name);
    const { backend } = find("Ingress").spec.rules[0].http.paths[0];
    expect(backend.service).toEqual({
      name: find("Service").metadata.name,
      port: { name: servicePort.name },
    });
    expect(find("Ingress").spec.tls[0].hosts).toEqual([find("Ingress").spec.rules[0].host]);
  });

  it("run the image with its user, port and folders, and without rights", () => {
    const image = parseContainerFile(readKitFile("Dockerfile")).at(-1);
    if (!image) throw new Error("no image");
    const { PORT, CAPSTAN_HEALTH_PORT, CAPSTAN_HOME } = getVariables(image);
    expect(container.ports).toEqual([
      { name: "http", containerPort: Number(PORT) },
      { name: "health", containerPort: Number(CAPSTAN_HEALTH_PORT) },
    ]);
    const { runAsUser, runAsGroup, runAsNonRoot } = pod.securityContext;
    expect([`${runAsUser}:${runAsGroup}`]).toEqual(findInstructions(image, "USER")[0]?.words);
    expect(runAsNonRoot).toBe(true);
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    });
    const writable = container.volumeMounts.map(({ mountPath }: { mountPath: string }) => mountPath);
    expect(writable).toEqual([CAPSTAN_HOME, "/tmp"]);
    expect(container.volumeMounts.map(({ name }: { name: string }) => name)).toEqual(
      pod.volumes.map(({ name }: { name: string }) => name),
    );
    expect(container.envFrom).toEqual([{ secretRef: { name: "capstan" } }]);
    expect(JSON.stringify(manifests)).not.toMatch(/"(?:value|stringData)":/);
  });

  it("probe liveness and readiness", () => {
    const { startupProbe, livenessProbe, readinessProbe } = container;
    expect([startupProbe, livenessProbe, readinessProbe].map(({ httpGet }) => httpGet)).toEqual([
      { path: "/healthz", port: "health" },
      { path: "/healthz", port: "health" },
      { path: "/readyz", port: "health" },
    ]);
  });
});

describe("the manifests of workers", () => {
  // biome-ignore lint/suspicious/noExplicitAny: the compiler checks the manifests below
  const workers: any[] = parseAllDocuments(readKitFile("kubernetes-workers.yaml")).map((document) =>
    document.toJS(),
  );
  const [deployment, budget, scaler] = workers;
  const [worker] = deployment.spec.template.spec.containers;

  it("have the types of the Kubernetes API, and select their own pods", async () => {
    expect(await checkManifests(workers)).toEqual([]);
    const { labels } = deployment.spec.template.metadata;
    expect(deployment.spec.selector.matchLabels).toEqual(labels);
    expect(labels).not.toEqual(spec.template.metadata.labels);
    expect(budget.spec.selector.matchLabels).toEqual(labels);
    expect(scaler.spec.scaleTargetRef.name).toBe(deployment.metadata.name);
  });

  it("execute runs with the image, secret and rights of the servers, and have no port but that of probes", () => {
    const image = parseContainerFile(readKitFile("Dockerfile")).at(-1);
    if (!image) throw new Error("no image");
    expect(worker.args).toEqual([
      "node",
      "node_modules/.bin/capstan",
      "worker",
      "--config",
      "capstan.config.ts",
    ]);
    const { CAPSTAN_HEALTH_PORT } = getVariables(image);
    expect(worker.ports).toEqual([{ name: "health", containerPort: Number(CAPSTAN_HEALTH_PORT) }]);
    for (const field of [
      "image",
      "envFrom",
      "securityContext",
      "volumeMounts",
      "readinessProbe",
      "livenessProbe",
    ])
      expect(worker[field]).toEqual(container[field]);
    expect(deployment.spec.template.spec.securityContext).toEqual(pod.securityContext);
    const [, patch = ""] = /--patch='([\s\S]+?)'\n/.exec(readKitFile("kubernetes-workers.yaml")) ?? [];
    const [{ value }] = JSON.parse(patch.replaceAll("\n#", " "));
    expect(value).toEqual([
      "node",
      "node_modules/.bin/capstan",
      "serve",
      "--no-work",
      ...worker.args.slice(3),
      "--log",
    ]);
  });
});
