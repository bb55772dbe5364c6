import { extensionOf, previewLimits } from '@stowage/rules';
import { useMemo, useState } from 'react';
import { useWhole } from '../common/bytes/useWhole.js';
import { ViewerError } from '../common/viewer/ViewerError.js';
import { ViewerLoading } from '../common/viewer/ViewerLoading.js';
import type { ViewerProps } from '../common/viewer/ViewerProps.js';
import { ViewerFrame } from '../frame/ViewerFrame.js';
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
	const { data: bytes, error } = useWhole(file.url, file.id, previewLimits.document);
	const [state, setState] = useState<'loading' | 'shown' | 'failed'>('loading');
	const content = useMemo(() => bytes && ({ kind: 'word', bytes, fileName: file.name } as const), [bytes, file.name]);

	if (error || state === 'failed') {
		return <ViewerError file={file} title={messages.failures.document[0]} reason={error?.message} />;
	}
	return (
		<div className={styles.viewer} data-state={state}>
			{state === 'loading' && <ViewerLoading />}
			<ViewerFrame
				className={styles.frame}
				title={file.name}
				content={content}
				onEvent={({ kind }) => (kind === 'shown' || kind === 'failed') && setState(kind)}
			/>
		</div>
	);
}
