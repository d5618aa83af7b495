import type { CallView } from "capstan/client";
import { type ReactNode, type RefObject, useEffect, useRef, useState } from "react";
import { useConversation } from "../chat/conversation-context.ts";
import { useRequest } from "../data/use-request.ts";
import { parseSafeLink } from "../markdown/safe-link.ts";
import { Button } from "../ui/button.tsx";
import { escapeBidi } from "../ui/escape-text.ts";
import { usePendingLink } from "../ui/external-link.tsx";
import { ErrorMessage, Loading } from "../ui/state.tsx";
import { WidgetFrame } from "../widgets/widget-frame.tsx";
import { type AppHost, createAppBridge } from "./app-bridge.ts";
import { AppSuggestion, type Suggestion } from "./app-suggestion.tsx";
import { type AppInfo, type AppPlace, getPagePath, loadApp } from "./apps-client.ts";
import { buildHostContext, maxFrameHeight, minFrameHeight, watchTheme } from "./host-context.ts";
import { toToolResult } from "./to-tool-result.ts";
import { useAppCalls } from "./use-app-calls.ts";

/** The MCP App of a call, in a frame that can reach nothing but its bridge. */
export function AppFrame({ call }: { readonly call: CallView }): ReactNode {
  const { sessionId, sendMessage } = useConversation();
  const { seq } = call;
  if (!sendMessage || seq === undefined)
    return <p className="text-quiet text-sm">The app is not shown in a replay.</p>;
  return <LoadedApp call={call} place={{ sessionId, seq }} />;
}

type AppProps = { readonly call: CallView; readonly place: AppPlace };

function LoadedApp({ call, place }: AppProps): ReactNode {
  const { value: app, error, retry } = useRequest(`${place.sessionId} ${place.seq}`, () => loadApp(place));
  const [problem, setProblem] = useState<string>();
  if (error !== undefined) return <ErrorMessage message={error} onRetry={retry} />;
  if (!app) return <Loading label="Loading app" />;
  return (
    <WidgetFrame label={`App of ${escapeBidi(app.server)}`} note={formatOrigins(app)}>
      {problem === undefined ? (
        <IsolatedPage call={call} place={place} app={app} onStop={setProblem} />
      ) : (
        <div role="alert" className="flex flex-wrap items-center gap-3 px-3 py-2 text-sm">
          <span>The app was stopped. {problem}</span>
          <Button size="small" onClick={() => setProblem(undefined)}>
            Start again
          </Button>
        </div>
      )}
    </WidgetFrame>
  );
}

/** Says where the app can send data. */
function formatOrigins({ domains: { connect, resource, frame } }: AppInfo): string {
  const hosts = new Set([...connect, ...resource, ...frame].map((origin) => origin.replace(/^\w+:\/\//, "")));
  return hosts.size === 0 ? "no network access" : `can reach ${[...hosts].join(", ")}`;
}

type IsolatedPageProps = AppProps & { readonly app: AppInfo; readonly onStop: (reason: string) => void };

function IsolatedPage({ call, place, app, onStop }: IsolatedPageProps): ReactNode {
  const frame = useRef<HTMLIFrameElement>(null);
  const [height, setHeight] = useState(200);
  const [suggestion, setSuggestion] = useState<Suggestion>();
  const loads = useRef(0);
  const callTool = useAppCalls(place);
  useBridge(frame, call, {
    callTool,
    openLink: async (url) => openLink(url, frame.current),
    sendMessage: (text) =>
      suggestion ? Promise.resolve(false) : new Promise((resolve) => setSuggestion({ text, resolve })),
    onResize: (next) => setHeight(Math.min(Math.max(Math.ceil(next), minFrameHeight), maxFrameHeight)),
    onClose: () => onStop("It asked to be closed."),
    onViolation: onStop,
  });
  return (
    <>
      <iframe
        ref={frame}
        title={`App of ${escapeBidi(app.server)}`}
        src={getPagePath(place, app)}
        sandbox="allow-scripts allow-forms"
        allow=""
        referrerPolicy="no-referrer"
        className="block w-full"
        // Equal to the default of a page, so that the studio's background shows through in the dark, too.
        style={{ height, colorScheme: "light" }}
        onLoad={() => {
          loads.current += 1;
          if (loads.current > 1) onStop("It left its page.");
        }}
      />
      {suggestion && <AppSuggestion suggestion={suggestion} onDecided={() => setSuggestion(undefined)} />}
    </>
  );
}

/** Connects the frame while it is mounted. */
function useBridge(frame: RefObject<HTMLIFrameElement | null>, call: CallView, host: AppHost): void {
  const latest = useRef(host);
  latest.current = host;
  useEffect(() => {
    const bridge = createAppBridge({
      host: {
        callTool: (name, input) => latest.current.callTool(name, input),
        openLink: (url) => latest.current.openLink(url),
        sendMessage: (text) => latest.current.sendMessage(text),
        onResize: (height) => latest.current.onResize(height),
        onClose: () => latest.current.onClose(),
        onViolation: (reason) => latest.current.onViolation(reason),
      },
      // The origin of the frame equals no other, so it cannot be named.
      post: (message) => frame.current?.contentWindow?.postMessage(message, "*"),
      getContext: buildHostContext,
      call: { input: call.input, result: toToolResult(call) },
    });
    function onMessage({ source, origin, data }: MessageEvent): void {
      if (source === frame.current?.contentWindow && origin === "null") bridge.receive(data);
    }
    addEventListener("message", onMessage);
    const unwatchTheme = watchTheme(() => bridge.updateContext(buildHostContext()));
    return () => {
      removeEventListener("message", onMessage);
      unwatchTheme();
    };
  }, [frame, call]);
}

/** Shows the address before it is opened, and only while the user works in the app. */
function openLink(url: string, frame: HTMLIFrameElement | null): boolean {
  const link = parseSafeLink(url, "");
  const isBusy = usePendingLink.getState().link !== undefined;
  if (!link || isBusy || document.activeElement !== frame) return false;
  usePendingLink.setState({ link });
  return true;
}
