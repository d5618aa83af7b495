// A host of MCP Apps for tests: the official bridge, with a frame for the page in `window.page`.
import { AppBridge, PostMessageTransport } from "@modelcontextprotocol/ext-apps/app-bridge";

type TestWindow = Window & { page: string; result: Record<string, unknown>; heard: unknown[] };
const test = window as unknown as TestWindow;
test.heard = [];

export async function show(): Promise<void> {
  const frame = document.createElement("iframe");
  frame.title = "App";
  frame.sandbox.add("allow-scripts");
  frame.style.width = "100%";
  document.body.append(frame);
  const { contentWindow } = frame;
  if (!contentWindow) throw new Error("The frame has no window.");
  const bridge = new AppBridge(
    null,
    { name: "test-host", version: "1" },
    { openLinks: {} },
    { hostContext: { theme: "dark" } },
  );
  bridge.oninitialized = () => {
    void bridge.sendToolInput({ arguments: {} });
    void bridge.sendToolResult(test.result as never);
  };
  bridge.onsizechange = ({ height }) => {
    test.heard.push({ height });
    if (height !== undefined) frame.style.height = `${height}px`;
  };
  bridge.onopenlink = async ({ url }) => {
    test.heard.push({ url });
    return {};
  };
  await bridge.connect(new PostMessageTransport(contentWindow, contentWindow));
  frame.srcdoc = test.page;
}

Object.assign(window, { show });
