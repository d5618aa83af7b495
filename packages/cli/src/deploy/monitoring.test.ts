import { createServer } from "@capstan/server";
import { AgentError, defineAgent, defineTool } from "capstan";
import { scriptedModel } from "capstan/testing";
import { beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { readKitFile } from "../testing/deploy/kit-files.ts";
import { findGroupLabels, findSelections } from "../testing/deploy/promql.ts";

type Target = { readonly expr: string; readonly legendFormat: string };
type Panel = { readonly title: string; readonly targets: readonly Target[] };
type Rule = {
  readonly alert: string;
  readonly expr: string;
  readonly for: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string };
};

const dashboard = JSON.parse(readKitFile("grafana-dashboard.json"));
const panels: readonly Panel[] = dashboard.panels;
const rules: readonly Rule[] = parse(readKitFile("prometheus-alerts.yaml")).groups.flatMap(
  ({ rules: listed }: { rules: Rule[] }) => listed,
);

/** Metrics with their labels, as a server reports them after runs that use all of them. */
const reported = new Map<string, Set<string>>();
/** Added by Prometheus to every metric. */
const scrapeLabels = ["instance", "job"];

beforeAll(async () => {
  const text = await collectMetrics();
  for (const [, metric = ""] of text.matchAll(/^# TYPE (\S+) /gm))
    reported.set(metric, new Set(scrapeLabels));
  for (const [, metric = "", labels = ""] of text.matchAll(/^(\w+)(?:\{(.*)\})? \S+$/gm)) {
    const known = reported.get(metric) ?? new Set(scrapeLabels);
    for (const [, label = ""] of labels.matchAll(/(\w+)="/g)) known.add(label);
    reported.set(metric, known);
  }
  reported.set("up", new Set(scrapeLabels)); // of Prometheus itself
});

/** Runs a tool and a failing model on a server, which then refuses work. */
async function collectMetrics(): Promise<string> {
  const look = defineTool({
    name: "look",
    description: "Looks",
    input: { type: "object" },
    execute: () => "seen",
  });
  const usage = { inputTokens: 9, outputTokens: 5, cachedTokens: 3 };
  const model = scriptedModel(({ history }) =>
    history.at(-1)?.type === "result" ? { text: "Done.", usage } : { usage, calls: [{ name: "look" }] },
  );
  const broken = scriptedModel(() => ({ error: new AgentError("model_auth", "No key.") }));
  let memoryInUse = 0;
  const server = createServer({
    memoryInUse: () => memoryInUse,
    agents: [
      defineAgent({ name: "looker", model, tools: [look] }),
      defineAgent({ name: "broken", model: broken }),
    ],
  });
  const send = (path: string, body?: unknown) =>
    server.fetch(
      new Request(`http://127.0.0.1${path}`, {
        ...(body !== undefined && { method: "POST", body: JSON.stringify(body) }),
        headers: { host: "127.0.0.1", "content-type": "application/json" },
      }),
    );
  for (const model of ["looker", "broken", "looker"]) {
    const body = { model, messages: [{ role: "user", content: "Hi" }] };
    await (await send("/v1/chat/completions", body)).text();
    if (model === "broken") memoryInUse = 1;
  }
  const text = await (await send("/metrics")).text();
  await server.close(0);
  return text;
}

/** Returns one line per metric or label that a server does not report. */
function checkExpression(expression: string): string[] {
  const selections = findSelections(expression.replaceAll("$__rate_interval", "5m"));
  const groups = findGroupLabels(expression).filter((label) => label !== "le");
  const unknownGroups = groups.filter(
    (label) => !selections.some(({ metric }) => reported.get(metric)?.has(label)),
  );
  return [
    ...(selections.length > 0 ? [] : ["No metric is used."]),
    ...unknownGroups.map((label) => `No metric has the label ${label}.`),
    ...selections.flatMap(({ metric, labels }) => {
      const known = reported.get(metric);
      if (!known) return [`${metric} does not exist.`];
      return labels.filter((label) => !known.has(label)).map((label) => `${metric} has no label ${label}.`);
    }),
  ];
}

describe("the dashboard and the alerts", () => {
  it("use only metrics and labels that a server reports", () => {
    const expressions = [...panels.flatMap(({ targets }) => targets), ...rules].map(({ expr }) => expr);
    expect(expressions.length).toBeGreaterThan(20);
    expect(expressions.flatMap(checkExpression)).toEqual([]);
  });

  it.each([
    ["rate(capstan_run_total[5m])", "capstan_run_total does not exist."],
    ['capstan_runs_total{state="failed"}', "capstan_runs_total has no label state."],
    ["sum by (tool) (capstan_tool_calls_total)", "No metric has the label tool."],
  ])("a mistake such as %s is found", (expression, problem) => {
    expect(checkExpression(expression)).toEqual([problem]);
    expect(() => findSelections(`${expression})`)).toThrow("Unbalanced");
  });

  it("show every metric of the server", () => {
    const shown = panels.flatMap(({ targets }) => targets.flatMap(({ expr }) => findSelections(expr)));
    const used = new Set(shown.map(({ metric }) => metric.replace(/_(?:bucket|sum|count)$/, "")));
    const all = [...reported.keys()].map((metric) => metric.replace(/_(?:bucket|sum|count)$/, ""));
    expect(all.filter((metric) => metric !== "up" && !used.has(metric))).toEqual([]);
  });

  it("the dashboard names its series by labels, and its panels do not overlap", () => {
    for (const { targets } of panels)
      for (const { legendFormat, expr } of targets)
        for (const [, label = ""] of legendFormat.matchAll(/\{\{(\w+)\}\}/g))
          expect([...findGroupLabels(expr), ...scrapeLabels]).toContain(label);
    const places = dashboard.panels.map(
      ({ gridPos: { x, y } }: { gridPos: { x: number; y: number } }) => `${x},${y}`,
    );
    expect(new Set(places).size).toBe(panels.length);
    expect(dashboard.templating.list.map(({ name }: { name: string }) => name)).toEqual([
      "datasource",
      "instance",
    ]);
  });

  it("every alert waits, has a severity and says what happens", () => {
    for (const rule of rules) {
      expect(rule).toMatchObject({
        alert: expect.stringMatching(/^Capstan[A-Z]\w+$/),
        for: expect.stringMatching(/^\d+m$/),
        labels: { severity: expect.stringMatching(/^(?:critical|warning)$/) },
        annotations: { summary: expect.stringMatching(/\.$/) },
      });
    }
  });
});
