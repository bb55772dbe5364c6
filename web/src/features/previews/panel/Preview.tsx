import { effectivePreviewKind, formatListSize, type PreviewKind, previewLimits, previewOf } from '@stowage/rules';
import { useQuery } from '@tanstack/react-query';
import {
	Component,
	type ComponentType,
	type LazyExoticComponent,
	lazy,
	type ReactNode,
	Suspense,
	useEffect,
} from 'react';
import { firstBytesQuery } from '../common/firstBytes.js';
import { ViewerError } from '../common/ViewerError.js';
import { ViewerLoading } from '../common/ViewerLoading.js';
import type { ViewerProps } from '../common/ViewerProps.js';
import { previewMessages as messages } from '../messages.js';

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

export type ShownKind = PreviewKind | 'unknown';

export interface PreviewProps extends Omit<ViewerProps, 'firstBytes'> {
	/** The detected type of the file. */
	onKind: (kind: ShownKind) => void;
}

/** Reads the first bytes of a file, then shows it with the viewer of its type. */
export function Preview({ onKind, ...props }: PreviewProps) {
	const { file } = props;
	const named = previewOf(file.name, file.size).kind;
	const { data: first, error } = useQuery(firstBytesQuery(file));
	const kind = first && named !== 'unknown' ? effectivePreviewKind(named, first.bytes) : 'unknown';
	useEffect(() => {
		if (first) onKind(kind);
	});

	if (error) {
		const [title, text] = named === 'unknown' ? [messages.notAvailable] : messages.failures[named];
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
