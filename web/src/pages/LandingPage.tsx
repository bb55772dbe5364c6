import { Button } from '@blueprintjs/core';
import { CloudUploadIcon, TickCircleIcon } from '@blueprintjs/icons';
import { useCallback, useEffect, useId, useRef } from 'react';
import { useSession } from '../api/useSession.js';
import { UploadQueuePanel } from '../features/uploadQueue/UploadQueuePanel.js';
import { useFileDrop } from '../features/uploadQueue/useFileDrop.js';
import { useUploadQueue, useUploadQueueView } from '../features/uploadQueue/useUploadQueue.js';
import { messages } from '../messages.js';
import { useNotify } from '../ui/notifications/useNotify.js';
import styles from './LandingPage.module.css';

export function LandingPage() {
	const queue = useUploadQueue();
	const { items, hasSucceeded } = useUploadQueueView();
	const session = useSession();
	const { notify } = useNotify();
	const inputId = useId();
	const input = useRef<HTMLInputElement>(null);
	const choose = useRef<HTMLButtonElement>(null);
	const isEmpty = items.length === 0;
	const wasEmpty = useRef(isEmpty);
	useEffect(() => {
		// The button that had the focus went away with the queue.
		if (isEmpty && !wasEmpty.current && document.activeElement === document.body) choose.current?.focus();
		wasEmpty.current = isEmpty;
	}, [isEmpty]);
	const isDragging = useFileDrop(
		useCallback(
			({ files, folders }) => {
				queue.add(files);
				if (folders.length > 0) notify({ intent: 'warning', message: messages.foldersLeftOut(folders.join(', ')) });
			},
			[queue, notify],
		),
	);

	return (
		<div className={styles.page} data-filled={!isEmpty}>
			<h1 className={styles.tagline}>{messages.tagline}</h1>
			{hasSucceeded && (
				<div className={styles.success} role="status">
					<TickCircleIcon />
					{messages.uploadSucceeded}
				</div>
			)}
			<div className={styles.zone} data-dragging={isDragging}>
				<span className={styles.art} aria-hidden="true">
					<CloudUploadIcon size={48} />
				</span>
				{/* The label reaches over the whole zone, so a click anywhere in it opens the picker. */}
				<label className={styles.call} htmlFor={inputId}>
					{isDragging ? messages.dropHere : messages.dropFiles}
				</label>
				<p className={styles.hint}>
					{session.status === 'signedIn' && messages.dropHintSignedIn}
					{session.status === 'signedOut' && messages.dropHintVisitor}
				</p>
				<Button
					ref={choose}
					className={styles.choose}
					intent="primary"
					size="large"
					text={messages.chooseFiles}
					onClick={() => input.current?.click()}
				/>
				<input
					ref={input}
					id={inputId}
					className={styles.input}
					type="file"
					multiple
					tabIndex={-1}
					aria-hidden="true"
					onChange={(event) => {
						queue.add([...(event.currentTarget.files ?? [])]);
						// Choosing the same file again is a change too.
						event.currentTarget.value = '';
					}}
				/>
			</div>
			<UploadQueuePanel />
		</div>
	);
}
