import { formatListSize, type PreviewKind, previewLimits } from '@stowage/rules';
import { Component, type ReactNode, useState } from 'react';
import { lazyComponent } from '../../../ui/lazyComponent.js';
import { NotLoaded } from '../common/viewer/NotLoaded.js';
import { NotRead } from '../common/viewer/NotRead.js';
import { ViewerError } from '../common/viewer/ViewerError.js';
import { ViewerLoading } from '../common/viewer/ViewerLoading.js';
import type { ViewerProps } from '../common/viewer/ViewerProps.js';
import { previewMessages as messages } from '../messages.js';
import type { DetectedKind } from './useDetectedKind.js';

/** Each is loaded when it is first needed. */
const viewers: Record<PreviewKind, ReturnType<typeof lazyComponent<ViewerProps>>> = {
	image: lazyComponent(async () => (await import('../image/ImageViewer.js')).ImageViewer),
	video: lazyComponent(async () => (await import('../video/VideoViewer.js')).VideoViewer),
	audio: lazyComponent(async () => (await import('../audio/AudioViewer.js')).AudioViewer),
	text: lazyComponent(async () => (await import('../text/TextViewer.js')).TextViewer),
	pdf: lazyComponent(async () => (await import('../pdf/PdfViewer.js')).PdfViewer),
	epub: lazyComponent(async () => (await import('../epub/EpubViewer.js')).EpubViewer),
	document: lazyComponent(async () => (await import('../document/DocumentViewer.js')).DocumentViewer),
};

export interface PreviewProps extends Omit<ViewerProps, 'picture'> {
	detected: DetectedKind;
}

/** Shows a file with the viewer of its type. */
export function Preview({ detected, ...props }: PreviewProps) {
	const { file } = props;
	const { kind, first, error, retry } = detected;
	const [isMissing, setMissing] = useState(false);
	if (error) {
		const [title, text] = kind === 'unknown' ? [messages.notAvailable] : messages.failures[kind];
		return <NotRead file={file} title={title} text={text} error={error} onRetry={retry} />;
	}
	if (!first) return <ViewerLoading />;
	if (kind === 'unknown') return <ViewerError file={file} title={messages.notAvailable} />;
	const Viewer = viewers[kind];
	const limit = previewLimits[kind];
	if (first.size > limit) {
		return <ViewerError file={file} title={messages.notAvailable} text={messages.tooLarge(formatListSize(limit))} />;
	}
	// There is nothing to show of it.
	if (first.size === 0 && kind !== 'text' && kind !== 'document') {
		const [title, text] = messages.failures[kind];
		return <ViewerError file={file} title={title} text={text} reason={messages.emptyFile} />;
	}
	if (isMissing) return <NotLoaded file={file} onRetry={() => setMissing(false)} />;
	const [title, text] = messages.failures[kind];
	return (
		<ViewerBoundary fallback={<ViewerError file={file} title={title} text={text} />}>
			<Viewer
				{...props}
				picture={first.picture}
				fallback={<ViewerLoading />}
				onLoadFailed={() => setMissing(true)}
				isFailureReported={false}
			/>
		</ViewerBoundary>
	);
}

/** Shows the error of a viewer that throws in its place. */
class ViewerBoundary extends Component<{ fallback: ReactNode; children: ReactNode }, { hasFailed: boolean }> {
	override state = { hasFailed: false };

	static getDerivedStateFromError() {
		return { hasFailed: true };
	}

	override render() {
		return this.state.hasFailed ? this.props.fallback : this.props.children;
	}
}
