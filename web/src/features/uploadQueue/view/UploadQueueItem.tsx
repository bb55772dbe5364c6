import { Button, ProgressBar, SegmentedControl, Spinner, Tag } from '@blueprintjs/core';
import {
	DisableIcon,
	DocumentIcon,
	ErrorIcon,
	FolderCloseIcon,
	GlobeIcon,
	LockIcon,
	PeopleIcon,
	RepeatIcon,
	SmallCrossIcon,
	TickCircleIcon,
	UndoIcon,
	WarningSignIcon,
} from '@blueprintjs/icons';
import { formatDuration, formatQueueSize, formatSpeed, invalidNameMessage, shownName } from '@stowage/rules';
import { memo, useId, useRef } from 'react';
import type { UploadWait } from '../../../api/uploads/upload.js';
import { messages } from '../../../messages.js';
import { choiceOf, choicesFor, type NameState } from '../conflicts/conflicts.js';
import type { Uploader } from '../destination.js';
import { areaOf, directoryOf, fullName, hasValidName, isOver, type QueueItem } from '../queueItem.js';
import { fraction, isFinalizing, measuredPace } from '../queueSummary.js';
import type { UploadProgress } from '../uploadQueue.js';
import type { UploadQueue } from '../useUploadQueue.js';
import { IfExistsSelect } from './IfExistsSelect.js';
import styles from './UploadQueue.module.css';

export interface UploadQueueItemProps {
	item: QueueItem;
	/** The progress of this item, while it is being uploaded. */
	progress: UploadProgress | undefined;
	/** Whether it may be changed by who is signed in; one of another user is only shown. */
	isOwn: boolean;
	/** Whether nothing can be changed: an upload runs, or it is not one's own. */
	isLocked: boolean;
	/** Only users choose the visibility, and what a file replaces. */
	uploader: Uploader;
	/** What has its name already. */
	nameState: NameState;
	queue: UploadQueue;
	onRemove: (item: QueueItem) => void;
}

export const UploadQueueItem = memo(function UploadQueueItem(props: UploadQueueItemProps) {
	const { item, progress, isOwn, isLocked, uploader, nameState, queue, onRemove } = props;
	const isVisitor = uploader !== 'signedIn';
	const isFixed = isLocked || isOver(item);
	const isValid = hasValidName(item);
	const noteId = useId();
	const conflictId = useId();
	const name = useRef<HTMLInputElement>(null);
	return (
		<div className={styles.item} data-status={item.status}>
			<span className={styles.itemIcon}>{itemIcon(item)}</span>
			<div className={styles.nameLine}>
				<div className={styles.nameField}>
					<input
						ref={name}
						className={`bp6-input ${styles.name}`}
						aria-label={messages.fileName}
						aria-invalid={!isValid}
						aria-describedby={`${noteId} ${conflictId}`}
						title={isValid ? undefined : invalidNameMessage}
						value={item.name}
						disabled={isFixed}
						autoComplete="off"
						spellCheck={false}
						onChange={(event) => queue.rename(item.id, event.target.value)}
					/>
					{item.extension !== '' && <span className={styles.extension}>{item.extension}</span>}
				</div>
				{item.name !== item.originalName && !isFixed && (
					<Button
						variant="minimal"
						icon={<UndoIcon />}
						aria-label={messages.restoreName}
						title={messages.restoreName}
						onClick={() => {
							// The button disappears with the change that it undoes.
							name.current?.focus();
							queue.restoreName(item.id);
						}}
					/>
				)}
			</div>
			<div className={styles.note} id={noteId}>
				{!isOwn && <span>{messages.addedBy(item.username ?? '')}</span>}
				{isValid || isOver(item) ? (
					<ItemNote item={item} progress={progress} />
				) : (
					<span className={styles.failed}>{invalidNameMessage}</span>
				)}
			</div>
			{isValid && (nameState === 'file' || nameState === 'directory') && (
				<div className={styles.conflict}>
					<span className={styles.conflictNote}>
						<WarningSignIcon size={12} />
						<span id={conflictId}>{nameState === 'file' ? messages.nameTaken : messages.nameTakenByFolder}</span>
					</span>
					<IfExistsSelect
						label={messages.ifItExists}
						value={choiceOf(item, nameState, isVisitor)}
						choices={choicesFor(nameState, isVisitor)}
						isDisabled={isLocked}
						onChange={(ifExists) => queue.setIfExists(item.id, ifExists)}
					/>
				</div>
			)}
			<div className={styles.visibility}>
				{uploader !== 'guest' && <ItemVisibility item={item} isLocked={isLocked} isVisitor={isVisitor} queue={queue} />}
			</div>
			<div className={styles.itemActions}>
				{item.status === 'error' && !isLocked && (
					<Button
						variant="minimal"
						icon={<RepeatIcon />}
						aria-label={messages.retry}
						title={messages.retry}
						disabled={!isValid}
						onClick={() => queue.start([item.id])}
					/>
				)}
				<Button
					variant="minimal"
					icon={<SmallCrossIcon size={20} />}
					aria-label={messages.remove}
					title={messages.remove}
					data-remove={item.id}
					disabled={isLocked}
					onClick={() => onRemove(item)}
				/>
			</div>
			{progress && (
				<ProgressBar
					className={styles.itemProgress}
					aria-label={fullName(item)}
					intent="primary"
					animate={false}
					stripes={isFinalizing(item, progress)}
					value={isFinalizing(item, progress) ? 1 : fraction(progress.uploadedSize, item.size)}
				/>
			)}
		</div>
	);
});

function ItemVisibility(props: Pick<UploadQueueItemProps, 'item' | 'isLocked' | 'queue'> & { isVisitor: boolean }) {
	const { item, isLocked, isVisitor, queue } = props;
	if (areaOf(item) === 'shared') {
		return (
			<Tag minimal icon={<PeopleIcon size={12} />}>
				{messages.sharedFolder}
			</Tag>
		);
	}
	if (isVisitor || isOver(item)) {
		return (
			<Tag minimal icon={item.isPublic ? <GlobeIcon size={12} /> : <LockIcon size={12} />}>
				{!item.isPublic ? messages.private : isVisitor ? messages.publicOnly : messages.public}
			</Tag>
		);
	}
	return (
		<SegmentedControl
			aria-label={messages.visibility}
			size="small"
			inline
			disabled={isLocked}
			value={item.isPublic ? 'public' : 'private'}
			options={[
				{ label: messages.private, value: 'private' },
				{ label: messages.public, value: 'public' },
			]}
			onValueChange={(value) => queue.setVisibility(item.id, value === 'public')}
		/>
	);
}

function ItemNote({ item, progress }: { item: QueueItem; progress: UploadProgress | undefined }) {
	const size = formatQueueSize(item.size);
	switch (item.status) {
		case 'pending': {
			const directory = directoryOf(item);
			return (
				<>
					<span>{size}</span>
					{directory !== '' && (
						<span className={styles.destination} title={messages.destination(shownName(directory))}>
							<FolderCloseIcon size={12} />
							{shownName(directory)}
						</span>
					)}
				</>
			);
		}
		case 'uploading':
			return progress ? <ProgressNote item={item} progress={progress} /> : <span>{size}</span>;
		case 'completed':
			return (
				<>
					<span className={styles.completed}>{messages.uploadComplete}</span>
					{item.isVerified && <span title={messages.verifiedHint}>{messages.verified}</span>}
					{item.savedName !== fullName(item) && <span>{messages.savedAs(shownName(item.savedName))}</span>}
					<span>{size}</span>
				</>
			);
		case 'skipped':
			return (
				<>
					<span>{messages.uploadItemSkipped}</span>
					<span>{messages.nameTaken}</span>
				</>
			);
		case 'error':
			return (
				<>
					<span className={styles.failed}>{messages.uploadItemFailed}</span>
					<span>{item.error}</span>
					{item.detail !== undefined && <span>{item.detail}</span>}
				</>
			);
	}
}

function ProgressNote({ item, progress }: { item: QueueItem; progress: UploadProgress }) {
	if (progress.wait) return <span className={styles.waits}>{waitText(progress.wait)}</span>;
	if (isFinalizing(item, progress)) return <span>{messages.finalizing}</span>;
	const { speed, secondsLeft } = measuredPace(item, progress);
	return (
		<>
			<span className={styles.percent}>{Math.floor(fraction(progress.uploadedSize, item.size) * 100)}%</span>
			<span>{messages.doneOf(formatQueueSize(progress.uploadedSize), formatQueueSize(item.size))}</span>
			{speed !== undefined && <span>{formatSpeed(speed)}</span>}
			{secondsLeft !== undefined && <span>{messages.timeLeft(formatDuration(secondsLeft))}</span>}
		</>
	);
}

function waitText(wait: UploadWait): string {
	switch (wait) {
		case 'connection':
			return messages.waitsForConnection;
		case 'server':
			return messages.waitsForServer;
		case 'space':
			return messages.waitsForSpace;
		case 'limit':
			return messages.waitsForLimit;
		case 'signIn':
			return messages.waitsForSignIn;
		case 'checking':
			return messages.checksFile;
	}
}

function itemIcon(item: QueueItem) {
	switch (item.status) {
		case 'pending':
			return <DocumentIcon />;
		case 'uploading':
			return <Spinner size={16} intent="primary" aria-hidden="true" />;
		case 'completed':
			return <TickCircleIcon className={styles.completed} />;
		case 'skipped':
			return <DisableIcon />;
		case 'error':
			return <ErrorIcon className={styles.failed} />;
	}
}
