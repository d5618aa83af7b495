import { defineTool, type Tool } from "../../kernel/tool.ts";
import { type Carrier, type Carriers, call, nothing } from "./injection-lab.ts";

/** The text is in the result of a tool. */
function createResultCarrier(tool: string, wrap: (words: string) => unknown): Carrier {
  return (words, lab) =>
    lab.run({ contents: { [tool]: wrap(words) }, plan: [call("customers"), call(tool)] });
}

export const resultCarriers: Carriers = {
  "a page": createResultCarrier("web_page", (words) => `<p>${words}</p>`),
  "the content of a file": createResultCarrier("read_file", (words) => `# Notes\n${words}`),
  "a file name": createResultCarrier("list_files", (words) => ["a.txt", `${words}.txt`]),
  "a mail": createResultCarrier("read_mail", (words) => ({ from: "x@evil.test", body: words })),
  "an error of a tool": createResultCarrier("web_page", (words) => new Error(`404: ${words}`)),
  "the title of a search result": createResultCarrier("search_web", (words) => [{ title: words }]),
  "the alt text of an image": createResultCarrier("describe_image", (words) => `![${words}](x.png)`),
  "a commit message": createResultCarrier("git_log", (words) => `a1b2c3 ${words}`),
  "a calendar entry": createResultCarrier("calendar", (words) => [{ title: words }]),
  "a field of structured data": createResultCarrier("web_page", (words) => ({
    message: "Found.",
    data: { rows: [{ note: words }] },
  })),
  "a text next to an image": createResultCarrier("describe_image", (words) => ({
    content: [
      { type: "text", text: words },
      { type: "image", mediaType: "image/png", data: "AAAA" },
    ],
  })),
  "a passage to cite": createResultCarrier("search_web", (words) => ({
    content: "See [1].",
    contexts: [{ id: "p", content: words, source: { title: "Page" } }],
  })),
  "the title of a source": createResultCarrier("search_web", (words) => ({
    content: "See [1].",
    contexts: [{ id: "p", content: "Text.", source: { title: words } }],
  })),
  "an untrusted result of a trusted tool": createResultCarrier("handbook", (words) => ({
    content: words,
    reads: ["untrusted"],
  })),
  "the answer of a client's tool": async (words, lab) => {
    const page = defineTool({
      ...{ name: "page", description: "Asks the browser.", input: nothing },
      ...{ effects: "none", reads: ["untrusted"] },
    });
    const handle = lab.run({ tools: [page as Tool], plan: [call("customers"), call("page")] });
    const { pending } = await handle;
    return handle.answer(pending[0]?.callId ?? "", words);
  },
};
