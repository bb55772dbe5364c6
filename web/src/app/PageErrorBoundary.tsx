import { Button } from '@blueprintjs/core';
import { Component, type ReactNode } from 'react';
import { messages } from '../messages.js';
import { EmptyState } from '../ui/EmptyState.js';

/** A page that fails, or whose bundle can't be fetched, leaves the frame and the running uploads alone. */
export class PageErrorBoundary extends Component<{ children: ReactNode }, { failed: boolean }> {
	override state = { failed: false };

	static getDerivedStateFromError() {
		return { failed: true };
	}

	override render() {
		if (!this.state.failed) return this.props.children;
		return (
			<EmptyState titleTagName="h1" title={messages.pageFailed}>
				<Button intent="primary" text={messages.reload} onClick={() => location.reload()} />
			</EmptyState>
		);
	}
}
