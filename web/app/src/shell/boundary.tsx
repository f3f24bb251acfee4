import { Component, type ReactNode } from "react";
import { ErrorNote } from "~/ui";

interface BoundaryProps {
  children: ReactNode;
  /** A change of it gives the children another chance. */
  resetKey?: string;
}

/** What breaks in one room stays in it, and is said. */
export class Boundary extends Component<BoundaryProps, { error: unknown }> {
  override state = { error: null };

  static getDerivedStateFromError(error: unknown) {
    return { error };
  }

  override componentDidUpdate(before: BoundaryProps) {
    if (before.resetKey !== this.props.resetKey && this.state.error !== null) this.setState({ error: null });
  }

  override render() {
    if (this.state.error === null) return this.props.children;
    return (
      <div className="p-4">
        <ErrorNote error={this.state.error} onRetry={() => this.setState({ error: null })} />
      </div>
    );
  }
}
