import { Button } from '@blueprintjs/core';
import { Component, type ReactNode } from 'react';
import { messages } from '../messages.js';
import { EmptyState } from '../ui/display/EmptyState.js';
import { forgetFailedPages } from './lazyPage.js';

/**
 * Shows an error when a page fails or its bundle can't be fetched. The frame and running uploads are not affected: a reload would end
 * them, so the page can be tried again without one, and is when it is opened anew.
 */
export class PageErrorBoundary extends Component<{ children: ReactNode }, { failed: boolean }> {
	override state = { failed: false };

	static getDerivedStateFromError() {
		return { failed: true };
	}

	override componentWillUnmount() {
		if (this.state.failed) forgetFailedPages();
	}

	override render() {
		if (!this.state.failed) return this.props.children;
		return (
			<EmptyState titleTagName="h1" title={messages.pageFailed}>
				<Button
					intent="primary"
					text={messages.retry}
					onClick={() => {
						forgetFailedPages();
						this.setState({ failed: false });
					}}
				/>
				<Button text={messages.reload} onClick={() => location.reload()} />
			</EmptyState>
		);
	}
}
