import { extensionOf, previewLimits } from '@stowage/rules';
import { useEffect, useState } from 'react';
import { useWhole } from '../common/useWhole.js';
import { ViewerError } from '../common/ViewerError.js';
import { ViewerLoading } from '../common/ViewerLoading.js';
import type { ViewerProps } from '../common/ViewerProps.js';
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
	const [frame, setFrame] = useState<Document>();
	const [state, setState] = useState<'loading' | 'loaded' | 'failed'>('loading');

	useEffect(() => {
		if (!bytes || !frame) return;
		const abort = new AbortController();
		void import('./renderDocx.js')
			.then(({ renderDocx }) => renderDocx(bytes, { frame, title: file.name, signal: abort.signal }))
			.then(
				() => !abort.signal.aborted && setState('loaded'),
				() => !abort.signal.aborted && setState('failed'),
			);
		return () => abort.abort();
	}, [bytes, frame, file.name]);

	if (error || state === 'failed') {
		return <ViewerError file={file} title={messages.failures.document[0]} reason={error?.message} />;
	}
	return (
		<div className={styles.viewer} data-state={state}>
			{state === 'loading' && <ViewerLoading />}
			<ViewerFrame
				className={styles.frame}
				title={file.name}
				onReady={setFrame}
				onLink={(address) => frame?.getElementById(address.replace(/^#/, ''))?.scrollIntoView()}
			/>
		</div>
	);
}
