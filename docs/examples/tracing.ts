import {
  InMemorySpanExporter,
  RandomIdGenerator,
  SimpleSpanProcessor,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import { agentTool, defineAgent, defineTool, run } from "capstan";
import { scriptedModel } from "capstan/testing";
import { runIds, traceIdOf, traces } from "capstan/trace";

const look = defineTool({
  name: "look",
  description: "Looks at the thermometer",
  input: { type: "object" },
  effects: "none",
  execute: () => "7 °C",
});
const observer = defineAgent({
  name: "observer",
  model: scriptedModel([{ calls: [{ name: "look" }] }, { text: "7 °C." }]),
  tools: [look],
});
const guide = defineAgent({
  name: "guide",
  model: scriptedModel([
    { calls: [{ name: "observer", input: { prompt: "How cold is it?" } }] },
    { text: "Take a coat." },
  ]),
  tools: [agentTool(observer, { description: "Knows the weather" })],
});

// In your program, use an exporter that sends: `new BatchSpanProcessor({ exporter: new OTLPTraceExporter() })`.
const exporter = new InMemorySpanExporter();

const ids = runIds(new RandomIdGenerator());
const provider = new TracerProvider({
  idGenerator: ids,
  spanProcessors: [new SimpleSpanProcessor({ exporter })],
});
const onEvent = traces({ tracer: provider.getTracer("my-program"), ids });

const { runId } = await run(guide, "Do I need a coat?", { hooks: { onEvent } });
onEvent.close();

const spans = exporter.getFinishedSpans();
const show = (parent: string | undefined, indent = ""): void => {
  for (const span of spans.filter(({ parentSpanContext }) => parentSpanContext?.spanId === parent)) {
    console.log(`${indent}${span.name}`);
    show(span.spanContext().spanId, `${indent}  `);
  }
};
show(undefined);
console.log(`in one trace: ${spans.every((span) => span.spanContext().traceId === traceIdOf(runId))}`);
await provider.shutdown();
