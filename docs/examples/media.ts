import { defineAgent, run } from "capstan";
import { openai } from "capstan/models/openai";
import { memory } from "capstan/stores/memory";

// Stands in for OpenAI: stores files, and answers every request with an image.
const image = { type: "image_generation_call", id: "ig_1", status: "completed", result: "iVBORw0KGgo=" };
const text = { type: "message", id: "msg_1", content: [{ type: "output_text", text: "Drawn from page 1." }] };
const fetch = async (url: unknown) => {
  const answer = { status: "completed", output: [image, text] };
  return Response.json(String(url).endsWith("/files") ? { id: "file-1" } : answer);
};

const model = openai({ model: "gpt-5", apiKey: "none", stream: false, fetch });
const agent = defineAgent({ name: "artist", model, instructions: "Draw what the user asks for." });
const store = memory();

const report = new TextEncoder().encode("%PDF-1.7 …");
const part = await model.files?.upload({ data: report, mediaType: "application/pdf", name: "report.pdf" });
if (!part) throw new Error("This model has no files.");
console.log(`uploaded as ${part.file?.id}`);

const result = await run(agent, [{ type: "text", text: "Draw the chart on page 1." }, part], { store });
console.log(result.text);
for (const { mediaType, handle = "" } of result.media) {
  const blob = await store.getBlob(result.sessionId, handle);
  console.log(`${mediaType}: ${blob?.size} bytes in ${handle}`);
}
