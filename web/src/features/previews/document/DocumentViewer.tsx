import { extensionOf, previewLimits } from '@stowage/rules';
import { useMemo, useRef, useState } from 'react';
import { useWhole } from '../common/bytes/useWhole.js';
import { NotRead } from '../common/viewer/NotRead.js';
import { useZoomKeys, zoomKeys } from '../common/viewer/useZoomKeys.js';
import { ViewerError } from '../common/viewer/ViewerError.js';
import { ViewerLoading } from '../common/viewer/ViewerLoading.js';
import type { ViewerProps } from '../common/viewer/ViewerProps.js';
import viewerStyles from '../common/viewer/viewers.module.css';
import { ZoomButtons } from '../common/viewer/ZoomButtons.js';
import { ViewerFrame, type ViewerFrameHandle } from '../frame/ViewerFrame.js';
import { previewMessages as messages } from '../messages.js';
import styles from './DocumentViewer.module.css';
import { ExternalViewer } from './ExternalViewer.js';

/** A docx in the page; every other document is handed to an external viewer. */
export function DocumentViewer(props: ViewerProps) {
	const extension = extensionOf(props.file.name);
	if (extension === 'docx') return <DocxViewer {...props} />;
	return <ExternalViewer {...props} extension={extension} />;
}

function DocxViewer({ file }: ViewerProps) {
	const { data: bytes, error, refetch } = useWhole(file.url, file.id, previewLimits.document);
	const [state, setState] = useState<'loading' | 'shown' | 'failed'>('loading');
	const [scale, setScale] = useState(1);
	const frame = useRef<ViewerFrameHandle>(null);
	const content = useMemo(() => bytes && ({ kind: 'word', bytes, fileName: file.name } as const), [bytes, file.name]);

	const zoom = state === 'shown' ? (to: 'in' | 'out') => frame.current?.send({ kind: 'zoom', to }) : undefined;
	useZoomKeys(zoom);

	const [title] = messages.failures.document;
	if (error) return <NotRead file={file} title={title} error={error} onRetry={() => void refetch()} />;
	if (state === 'failed') return <ViewerError file={file} title={title} />;
	return (
		<div className={styles.viewer} data-state={state}>
			<div
				className={`${viewerStyles.bar} ${viewerStyles.topBar}`}
				role="toolbar"
				aria-label={messages.documentControls}
			>
				<ZoomButtons scale={scale} onZoom={zoom} />
			</div>
			<div className={styles.place}>
				{state === 'loading' && <ViewerLoading />}
				<ViewerFrame
					ref={frame}
					className={styles.frame}
					title={file.name}
					content={content}
					keys={zoomKeys}
					onEvent={(event) => {
						if (event.kind === 'scale') setScale(event.scale);
						else if (event.kind === 'shown' || event.kind === 'failed') setState(event.kind);
					}}
				/>
			</div>
		</div>
	);
}
