import { Button } from '@blueprintjs/core';
import { CloudUploadIcon } from '@blueprintjs/icons';
import { type ReactNode, useCallback, useEffect, useId, useRef } from 'react';
import { messages } from '../../../messages.js';
import { isFocusLost } from '../../../ui/keyboard/keptFocus.js';
import { useUploadQueue, useUploadQueueView } from '../useUploadQueue.js';
import { chooseFolder } from './chooseFolder.js';
import { type Chosen, chosenFiles } from './chosenFiles.js';
import styles from './DropZone.module.css';
import { useFileDrop } from './useFileDrop.js';
import { useFilePaste } from './useFilePaste.js';

export interface DropZoneProps {
	/** Who will see the files. */
	hint: ReactNode;
	/** Whether that is said where there is little room, too. @default false */
	keepsHint?: boolean;
	/** Whether there is a `Choose Folder` button. */
	mayChooseFolder: boolean;
	/** Whether it is one row, as beside a filled queue. */
	isSmall: boolean;
}

/** Where files are chosen for the queue. Those that are dropped or pasted anywhere on the page go there as well. */
export function DropZone({ hint, keepsHint = false, mayChooseFolder, isSmall }: DropZoneProps) {
	const queue = useUploadQueue();
	const { items } = useUploadQueueView();
	const inputId = useId();
	const input = useRef<HTMLInputElement>(null);
	const choose = useRef<HTMLButtonElement>(null);
	const isEmpty = items.length === 0;
	const wasEmpty = useRef(isEmpty);
	useEffect(() => {
		// The button that had the focus was removed with the queue.
		if (isEmpty && !wasEmpty.current && isFocusLost()) choose.current?.focus();
		wasEmpty.current = isEmpty;
	}, [isEmpty]);
	const add = useCallback((chosen: Chosen | Promise<Chosen>) => queue.add(chosen), [queue]);
	const isDragging = useFileDrop(add);
	useFilePaste(add);

	return (
		<div
			className={styles.zone}
			data-dragging={isDragging}
			data-small={isSmall}
			data-hint={keepsHint ? 'kept' : undefined}
		>
			<span className={styles.art} aria-hidden="true">
				<CloudUploadIcon size={48} />
			</span>
			{/* The label reaches over the whole zone, so a click anywhere in it opens the picker. */}
			<label className={styles.call} htmlFor={inputId}>
				{isDragging ? messages.dropHere : messages.dropFiles}
			</label>
			<p className={styles.hint}>{hint}</p>
			<div className={styles.choose}>
				<Button
					ref={choose}
					intent="primary"
					size="large"
					text={messages.chooseFiles}
					onClick={() => input.current?.click()}
				/>
				{mayChooseFolder && (
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
	);
}
