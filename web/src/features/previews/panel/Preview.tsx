import { formatListSize, type PreviewKind, previewLimits } from '@stowage/rules';
import { Component, type ComponentType, type LazyExoticComponent, lazy, type ReactNode, Suspense } from 'react';
import { ViewerError } from '../common/viewer/ViewerError.js';
import { ViewerLoading } from '../common/viewer/ViewerLoading.js';
import type { ViewerProps } from '../common/viewer/ViewerProps.js';
import { previewMessages as messages } from '../messages.js';
import type { DetectedKind } from './useDetectedKind.js';

/** Each is loaded when it is first needed. */
const viewers: Record<PreviewKind, LazyExoticComponent<ComponentType<ViewerProps>>> = {
	image: lazy(async () => ({ default: (await import('../image/ImageViewer.js')).ImageViewer })),
	video: lazy(async () => ({ default: (await import('../video/VideoViewer.js')).VideoViewer })),
	audio: lazy(async () => ({ default: (await import('../audio/AudioViewer.js')).AudioViewer })),
	text: lazy(async () => ({ default: (await import('../text/TextViewer.js')).TextViewer })),
	pdf: lazy(async () => ({ default: (await import('../pdf/PdfViewer.js')).PdfViewer })),
	epub: lazy(async () => ({ default: (await import('../epub/EpubViewer.js')).EpubViewer })),
	document: lazy(async () => ({ default: (await import('../document/DocumentViewer.js')).DocumentViewer })),
};

export interface PreviewProps extends Omit<ViewerProps, 'firstBytes'> {
	detected: DetectedKind;
}

/** Shows a file with the viewer of its type. */
export function Preview({ detected, ...props }: PreviewProps) {
	const { file } = props;
	const { kind, first, error } = detected;
	if (error) {
		const [title, text] = kind === 'unknown' ? [messages.notAvailable] : messages.failures[kind];
		return <ViewerError file={file} title={title} text={text} reason={error.message} />;
	}
	if (!first) return <ViewerLoading />;
	if (kind === 'unknown') return <ViewerError file={file} title={messages.notAvailable} />;
	const Viewer = viewers[kind];
	const limit = previewLimits[kind];
	if (first.size > limit) {
		return <ViewerError file={file} title={messages.notAvailable} text={messages.tooLarge(formatListSize(limit))} />;
	}
	const [title, text] = messages.failures[kind];
	return (
		<ViewerBoundary fallback={<ViewerError file={file} title={title} text={text} />}>
			<Suspense fallback={<ViewerLoading />}>
				<Viewer {...props} firstBytes={first.bytes} />
			</Suspense>
		</ViewerBoundary>
	);
}

/** Shows the error of a viewer that throws, or whose code can't be loaded, in its place. */
class ViewerBoundary extends Component<{ fallback: ReactNode; children: ReactNode }, { hasFailed: boolean }> {
	override state = { hasFailed: false };

	static getDerivedStateFromError() {
		return { hasFailed: true };
	}

	override render() {
		return this.state.hasFailed ? this.props.fallback : this.props.children;
	}
}
