import { Button } from '@blueprintjs/core';
import { CloudUploadIcon, TickCircleIcon } from '@blueprintjs/icons';
import { useQuery } from '@tanstack/react-query';
import { useCallback, useEffect, useId, useRef } from 'react';
import { capabilitiesQuery } from '../api/capabilities.js';
import { useSession } from '../api/session/useSession.js';
import { chooseFolder } from '../features/uploadQueue/choosing/chooseFolder.js';
import { type Chosen, chosenFiles } from '../features/uploadQueue/choosing/chosenFiles.js';
import { useFileDrop } from '../features/uploadQueue/choosing/useFileDrop.js';
import { useFilePaste } from '../features/uploadQueue/choosing/useFilePaste.js';
import { useUploadQueue, useUploadQueueView } from '../features/uploadQueue/useUploadQueue.js';
import { outcomeText } from '../features/uploadQueue/view/UploadQueueControls.js';
import { UploadQueuePanel } from '../features/uploadQueue/view/UploadQueuePanel.js';
import { messages } from '../messages.js';
import styles from './LandingPage.module.css';

export function LandingPage() {
	const queue = useUploadQueue();
	const view = useUploadQueueView();
	const { items, hasSucceeded } = view;
	const session = useSession();
	const { data: capabilities } = useQuery(capabilitiesQuery);
	const mayUpload = capabilities === undefined || capabilities.visitors === 'upload';
	const inputId = useId();
	const input = useRef<HTMLInputElement>(null);
	const choose = useRef<HTMLButtonElement>(null);
	const isEmpty = items.length === 0;
	const wasEmpty = useRef(isEmpty);
	useEffect(() => {
		// The button that had the focus was removed with the queue.
		if (isEmpty && !wasEmpty.current && document.activeElement === document.body) choose.current?.focus();
		wasEmpty.current = isEmpty;
	}, [isEmpty]);
	const add = useCallback((chosen: Chosen | Promise<Chosen>) => queue.add(chosen), [queue]);
	const isDragging = useFileDrop(add);
	useFilePaste(add);

	return (
		<div className={styles.page} data-filled={!isEmpty}>
			<h1 className={styles.tagline}>{messages.tagline}</h1>
			{hasSucceeded && (
				<div className={styles.success} role="status">
					<TickCircleIcon />
					{outcomeText(view)}
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
					{session.status === 'signedOut' && (mayUpload ? messages.dropHintVisitor : messages.dropHintSignIn)}
				</p>
				<div className={styles.choose}>
					<Button
						ref={choose}
						intent="primary"
						size="large"
						text={messages.chooseFiles}
						onClick={() => input.current?.click()}
					/>
					{session.status === 'signedIn' && (
						<Button variant="minimal" size="large" text={messages.chooseFolder} onClick={() => chooseFolder(add)} />
					)}
				</div>
				<input
					ref={input}
					id={inputId}
					className={styles.input}
					type="file"
					multiple
					tabIndex={-1}
					aria-hidden="true"
					onChange={(event) => {
						queue.add(chosenFiles(event.currentTarget.files ?? []));
						// Choosing the same file again is a change too.
						event.currentTarget.value = '';
					}}
				/>
			</div>
			<UploadQueuePanel />
		</div>
	);
}
