import type { ReactNode } from "react";
import { Route, Switch, useLocation } from "wouter";
import { Conversation } from "./chat/lazy-conversation.ts";
import { NewChat } from "./chat/new-chat.tsx";
import { Shell } from "./shell/shell.tsx";
import { SignInGate } from "./shell/sign-in-page.tsx";
import { ErrorBoundary } from "./ui/error-boundary.tsx";
import { lazy } from "./ui/lazy.tsx";
import { EmptyState, ErrorMessage } from "./ui/state.tsx";

const AdminPage = lazy(async () => ({ default: (await import("./pages/admin-page.tsx")).AdminPage }));
const AgentsPage = lazy(async () => ({ default: (await import("./pages/agents-page.tsx")).AgentsPage }));
const DatasetsPage = lazy(async () => ({
  default: (await import("./evals/datasets-page.tsx")).DatasetsPage,
}));
const DatasetPage = lazy(async () => ({ default: (await import("./evals/dataset-page.tsx")).DatasetPage }));
const ExperimentsPage = lazy(async () => ({
  default: (await import("./evals/experiments-page.tsx")).ExperimentsPage,
}));
const ExperimentPage = lazy(async () => ({
  default: (await import("./evals/experiment-page.tsx")).ExperimentPage,
}));
const McpPage = lazy(async () => ({ default: (await import("./pages/mcp-page.tsx")).McpPage }));
const MemoryPage = lazy(async () => ({ default: (await import("./memory/memory-page.tsx")).MemoryPage }));
const ModelsPage = lazy(async () => ({ default: (await import("./pages/models-page.tsx")).ModelsPage }));
const RunsPage = lazy(async () => ({ default: (await import("./runs/runs-page.tsx")).RunsPage }));
const SchedulesPage = lazy(async () => ({
  default: (await import("./schedules/schedules-page.tsx")).SchedulesPage,
}));
const SettingsPage = lazy(async () => ({
  default: (await import("./pages/settings-page.tsx")).SettingsPage,
}));
const SessionsPage = lazy(async () => ({
  default: (await import("./pages/sessions-page.tsx")).SessionsPage,
}));
const RunLink = lazy(async () => ({ default: (await import("./pages/run-link.tsx")).RunLink }));
const Replay = lazy(async () => ({ default: (await import("./replay/replay.tsx")).Replay }));
const Compare = lazy(async () => ({ default: (await import("./compare/compare.tsx")).Compare }));

/** Routes of the studio. */
export function App(): ReactNode {
  const [path] = useLocation();
  return (
    <SignInGate>
      <Shell>
        <ErrorBoundary key={path} fallback={<LoadError />}>
          <Switch>
            <Route path="/">
              <NewChat />
            </Route>
            <Route path="/sessions">
              <SessionsPage />
            </Route>
            <Route path="/sessions/:id/replay">{({ id }) => <Replay sessionId={id} />}</Route>
            <Route path="/sessions/:id">{({ id }) => <Conversation key={id} sessionId={id} />}</Route>
            <Route path="/runs">
              <RunsPage />
            </Route>
            <Route path="/runs/:id">{({ id }) => <RunLink key={id} runId={id} />}</Route>
            <Route path="/compare/:left/:right">
              {({ left, right }) => <Compare left={left} right={right} />}
            </Route>
            <Route path="/agents">
              <AgentsPage />
            </Route>
            <Route path="/datasets">
              <DatasetsPage />
            </Route>
            <Route path="/datasets/:name">{({ name }) => <DatasetPage key={name} name={name} />}</Route>
            <Route path="/experiments">
              <ExperimentsPage />
            </Route>
            <Route path="/experiments/:id">{({ id }) => <ExperimentPage key={id} id={id} />}</Route>
            <Route path="/schedules">
              <SchedulesPage />
            </Route>
            <Route path="/mcp-servers">
              <McpPage />
            </Route>
            <Route path="/memory">
              <MemoryPage />
            </Route>
            <Route path="/models">
              <ModelsPage />
            </Route>
            <Route path="/admin">
              <AdminPage />
            </Route>
            <Route path="/settings">
              <SettingsPage />
            </Route>
            <Route>
              <EmptyState title="Page not found">
                Choose a session on the left, or start a new chat.
              </EmptyState>
            </Route>
          </Switch>
        </ErrorBoundary>
      </Shell>
    </SignInGate>
  );
}

/** The code of a page is gone after an update of the server, and out of reach while the server is down. */
function LoadError(): ReactNode {
  return (
    <ErrorMessage
      message="This page could not be loaded. The server may be down, or it was updated."
      onRetry={() => location.reload()}
    />
  );
}
