import { Component, type ReactNode } from "react";

type ErrorBoundaryProps = { readonly fallback: ReactNode; readonly children: ReactNode };

/** Keeps the rest of the page working when a part of it fails. React requires a class here. */
export class ErrorBoundary extends Component<ErrorBoundaryProps, { readonly isBroken: boolean }> {
  override state: { readonly isBroken: boolean } = { isBroken: false };

  static getDerivedStateFromError(): { readonly isBroken: boolean } {
    return { isBroken: true };
  }

  override render(): ReactNode {
    return this.state.isBroken ? this.props.fallback : this.props.children;
  }
}
